import { findOwn } from '../../contracts/find-own.ts';

/** The events a hook can be told of, as its list of events has them. */
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

/** Events that come with these as well. */
const families: Readonly<Record<string, readonly HookEventName[]>> = {
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

/** What is kept of the events that a client names; a family's name stands for all of it, a name that nobody knows for nothing. */
export function expandEvents(asked: readonly string[]): readonly HookEventName[] {
  if (asked.includes('*')) return hookEvents;
  const wanted = new Set<string>(asked.flatMap((name): readonly string[] => findOwn(families, name) ?? [name]));
  return hookEvents.filter((name) => wanted.has(name));
}

/** Something that hooks may be told of. */
export interface HookEvent {
  /** As `X-Gitea-Event` has it: `issues`. */
  readonly name: string;
  /** The finer name of `X-Gitea-Event-Type` and of a hook's list, where it differs: `issue_label`. */
  readonly type?: string;
  /** Where a hook may be for some branches only. */
  readonly branch?: string;
}

/** What must be in a hook's list for it to be told. */
export function listedAs({ name, type = name }: HookEvent): string {
  return /^pull_request_review_(approved|rejected|comment)$/.test(type) ? 'pull_request_review' : type;
}
