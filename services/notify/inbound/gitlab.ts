import { findOwn } from '../../contracts/find-own.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import type { Payload } from './payload.ts';
import { formatCommits, isZeroHash, describePush } from './commits.ts';
import { capitalize, joinTexts, toLines, type InboundAdapter, type InboundNotification } from './adapter.ts';

const actionLabels: Readonly<Record<string, string>> = {
  open: 'opened',
  close: 'closed',
  reopen: 'reopened',
  update: 'updated',
  merge: 'merged',
  approved: 'approved',
  unapproved: 'unapproved',
};
const outcomes: Readonly<Record<string, NotificationType>> = {
  success: 'success',
  failed: 'failure',
  canceled: 'warning',
};

/** Fields that most events have. */
interface GitLabEvent {
  readonly payload: Payload;
  readonly kind: string;
  readonly attributes: Payload;
  readonly userName: string;
  /** Name of the action in the payload, such as `open`. */
  readonly action: string;
  readonly link: string | undefined;
  readonly details: InboundNotification['lines'];
}

function parsePush({ payload }: GitLabEvent): InboundNotification {
  const commits = payload.list('commits');
  const total = payload.number('total_commits_count') ?? commits.length;
  const deleted = isZeroHash(payload.text('after'));
  const created = isZeroHash(payload.text('before'));
  const description = describePush(payload.text('ref'), { commits: total, created, deleted, forced: false });
  return {
    title: `${payload.text('user_name') || payload.text('user_username')} ${description}`,
    lines: deleted ? [] : formatCommits(commits, total),
    type: deleted ? 'warning' : 'info',
  };
}

function parseMergeRequest({ attributes, action, details, link }: GitLabEvent): InboundNotification {
  return {
    title: `MR !${attributes.text('iid')} ${formatAction(action)}: ${attributes.text('title')}`,
    lines: details,
    type: action === 'merge' ? 'success' : 'info',
    link,
  };
}

function parseIssue({ kind, attributes, action, details, link }: GitLabEvent): InboundNotification {
  return {
    title:
      `${capitalize(kind.replace('_', ' '))} #${attributes.text('iid')} ` +
      `${formatAction(action)}: ${attributes.text('title')}`,
    lines: details,
    type: 'info',
    link,
  };
}

function parseComment({ payload, attributes, userName, link }: GitLabEvent): InboundNotification {
  const subject =
    payload.text('issue.title') ||
    payload.text('merge_request.title') ||
    payload.text('snippet.title') ||
    payload.text('commit.message');
  return {
    title: `${userName} commented on ${subject || attributes.text('noteable_type')}`,
    lines: toLines(attributes.lines('note')).slice(0, 12),
    type: 'info',
    link,
  };
}

function parsePipeline({ payload, attributes, userName, link }: GitLabEvent): InboundNotification {
  return {
    title: `Pipeline #${attributes.text('id')} ${attributes.text('status')}`,
    lines: [
      [joinTexts(' ', `On ${attributes.text('ref')}`, `by ${userName}`)],
      ...toLines(payload.lines('commit.title')),
    ],
    type: findOwn(outcomes, attributes.text('status')) ?? 'info',
    link,
  };
}

function parseJob({ payload, userName }: GitLabEvent): InboundNotification {
  return {
    title: `Job ${payload.text('build_name')} ${payload.text('build_status')}`,
    lines: [[joinTexts(' ', `On ${payload.text('ref')}`, `by ${userName}`)]],
    type: findOwn(outcomes, payload.text('build_status')) ?? 'info',
  };
}

function parseRelease({ payload, action, link }: GitLabEvent): InboundNotification {
  return {
    title: `Release ${payload.text('name') || payload.text('tag')} ${action === 'create' ? 'created' : `${action}d`}`,
    lines: toLines(payload.lines('description')).slice(0, 12),
    type: 'info',
    link,
  };
}

function parseOther({ kind, action, details, link }: GitLabEvent): InboundNotification {
  return {
    title: joinTexts(' ', capitalize(kind.replaceAll('_', ' ')), formatAction(action)),
    lines: details,
    type: 'info',
    link,
  };
}

function formatAction(action: string): string {
  return findOwn(actionLabels, action) ?? action;
}

/** Parsers by `object_kind`. */
const parsers: Readonly<Record<string, (event: GitLabEvent) => InboundNotification>> = {
  push: parsePush,
  tag_push: parsePush,
  merge_request: parseMergeRequest,
  issue: parseIssue,
  work_item: parseIssue,
  incident: parseIssue,
  note: parseComment,
  pipeline: parsePipeline,
  build: parseJob,
  release: parseRelease,
};

function parseEvent(payload: Payload): InboundNotification {
  const kind = payload.text('object_kind');
  const attributes = payload.object('object_attributes');
  const userName = payload.text('user.name') || payload.text('user_name') || 'someone';
  const parse = findOwn(parsers, kind) ?? parseOther;
  return parse({
    payload,
    kind,
    attributes,
    userName,
    action: attributes.text('action') || payload.text('action'),
    link: attributes.link('url') ?? payload.link('url'),
    details: [
      [`By ${userName}`],
      ...toLines(attributes.lines('description') || payload.lines('description')).slice(0, 12),
    ],
  });
}

/** Adapter for GitLab, whose payloads contain their kind. */
export const gitlab: InboundAdapter = {
  name: 'GitLab',
  matches: (payload) =>
    payload.text('object_kind') !== '' &&
    (payload.has('project') || payload.has('project_id') || payload.has('repository')),
  parse(payload) {
    const notification = parseEvent(payload);
    const project =
      payload.text('project.path_with_namespace') || payload.text('project_name') || payload.text('repository.name');
    return {
      ...notification,
      title: joinTexts(' ', project && `[${project}]`, notification.title),
      link: notification.link ?? payload.link('project.web_url'),
    };
  },
};
