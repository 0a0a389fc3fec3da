import { findOwn } from '../../contracts/find-own.ts';

/** Events that a hook can subscribe to. */
export const hookEvents = [
  'create',
  'delete',
  'fork',
  'push',
  'issues',
  'issue_assign',
  'issue_label',
  'issue_milestone',
  'issue_comment',
  'pull_request',
  'pull_request_assign',
  'pull_request_label',
  'pull_request_milestone',
  'pull_request_comment',
  'pull_request_review',
  'pull_request_sync',
  'pull_request_review_request',
  'repository',
  'release',
] as const;
export type HookEventName = (typeof hookEvents)[number];

/** Event names of the API that represent several events. */
const eventGroups: Readonly<Record<string, readonly HookEventName[]>> = {
  issues: ['issues', 'issue_assign', 'issue_label', 'issue_milestone', 'issue_comment'],
  pull_request: [
    'pull_request',
    'pull_request_assign',
    'pull_request_label',
    'pull_request_milestone',
    'pull_request_comment',
    'pull_request_review',
    'pull_request_sync',
    'pull_request_review_request',
  ],
  issues_only: ['issues'],
  pull_request_only: ['pull_request'],
  pull_request_review_approved: ['pull_request_review'],
  pull_request_review_rejected: ['pull_request_review'],
  pull_request_review_comment: ['pull_request_review'],
};

/** Expands the event names of a client. Group names are replaced by their events and unknown names are ignored. */
export function expandEvents(names: readonly string[]): readonly HookEventName[] {
  if (names.includes('*')) return hookEvents;
  const expanded = new Set<string>(names.flatMap((name): readonly string[] => findOwn(eventGroups, name) ?? [name]));
  return hookEvents.filter((name) => expanded.has(name));
}

/** Event that is sent to hooks. */
export interface HookEvent {
  /** Value of `X-Gitea-Event`, such as `issues`. */
  readonly name: string;
  /**
   * More specific name in `X-Gitea-Event-Type` and in the event list of a hook, such as `issue_label`. Default: `name`.
   */
  readonly type?: string;
  /** Branch that the branch filter of a hook is applied to. */
  readonly branch?: string;
}

/** Returns the event name that must be in the event list of a hook. */
export function getSubscribedName({ name, type = name }: HookEvent): string {
  return /^pull_request_review_(approved|rejected|comment)$/.test(type) ? 'pull_request_review' : type;
}
