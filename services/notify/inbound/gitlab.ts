import * as m from '#messages/notify-inbound';
import { findOwn } from '../../contracts/find-own.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import type { Payload } from './payload.ts';
import { formatCommits, isZeroHash, describePush } from './commits.ts';
import {
  capitalize,
  formatAuthor,
  joinTexts,
  toLines,
  type InboundAdapter,
  type InboundNotification,
} from './adapter.ts';

/** Actions by GitLab's names for them. */
const actionsByName: Readonly<Record<string, string>> = {
  open: 'opened',
  close: 'closed',
  reopen: 'reopened',
  update: 'updated',
  merge: 'merged',
  approved: 'approved',
  unapproved: 'unapproved',
  create: 'created',
  delete: 'deleted',
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
  /** Name of the user; empty without one. */
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
  const user = payload.text('user_name') || payload.text('user_username') || m.someone();
  const title = describePush(user, payload.text('ref'), { commits: total, created, deleted, forced: false });
  return {
    title,
    lines: deleted ? [] : formatCommits(commits, total),
    type: deleted ? 'warning' : 'info',
  };
}

function parseMergeRequest({ attributes, action, details, link }: GitLabEvent): InboundNotification {
  return {
    title: m.mergeRequest({
      number: attributes.text('iid'),
      ...toAction(action),
      title: attributes.text('title'),
    }),
    lines: details,
    type: action === 'merge' ? 'success' : 'info',
    link,
  };
}

const issueMessages: Readonly<Record<string, typeof m.issue>> = { work_item: m.workItem, incident: m.incident };

function parseIssue({ kind, attributes, action, details, link }: GitLabEvent): InboundNotification {
  return {
    title: (findOwn(issueMessages, kind) ?? m.issue)({
      number: attributes.text('iid'),
      ...toAction(action),
      title: attributes.text('title'),
    }),
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
    title: m.commented({
      user: userName || m.someone(),
      subject: subject || attributes.text('noteable_type'),
    }),
    lines: toLines(attributes.lines('note')).slice(0, 12),
    type: 'info',
    link,
  };
}

function parsePipeline({ payload, attributes, userName, link }: GitLabEvent): InboundNotification {
  return {
    title: m.pipeline({ number: attributes.text('id'), ...toStatus(attributes.text('status')) }),
    lines: [
      [m.onBranchBy({ branch: attributes.text('ref'), name: userName || m.someone() })],
      ...toLines(payload.lines('commit.title')),
    ],
    type: findOwn(outcomes, attributes.text('status')) ?? 'info',
    link,
  };
}

function parseJob({ payload, userName }: GitLabEvent): InboundNotification {
  return {
    title: m.job({ name: payload.text('build_name'), ...toStatus(payload.text('build_status')) }),
    lines: [[m.onBranchBy({ branch: payload.text('ref'), name: userName || m.someone() })]],
    type: findOwn(outcomes, payload.text('build_status')) ?? 'info',
  };
}

function parseRelease({ payload, action, link }: GitLabEvent): InboundNotification {
  return {
    title: m.release({ name: payload.text('name') || payload.text('tag'), ...toAction(action) }),
    lines: toLines(payload.lines('description')).slice(0, 12),
    type: 'info',
    link,
  };
}

function parseOther({ kind, action, details, link }: GitLabEvent): InboundNotification {
  return {
    // Homeport has no words for an event that it does not know.
    title: joinTexts(' ', capitalize(kind.replaceAll('_', ' ')), toAction(action).label),
    lines: details,
    type: 'info',
    link,
  };
}

/** Returns the action of an event for a message, and as text for an action that the message does not know. */
function toAction(name: string): { readonly action: string; readonly label: string } {
  const action = findOwn(actionsByName, name) ?? name;
  return { action, label: action };
}

/** Returns the status of a pipeline for a message, and as text for a status that the message does not know. */
function toStatus(status: string): { readonly status: string; readonly label: string } {
  return { status, label: status.replaceAll('_', ' ') };
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
  const userName = payload.text('user.name') || payload.text('user_name');
  const parse = findOwn(parsers, kind) ?? parseOther;
  return parse({
    payload,
    kind,
    attributes,
    userName,
    action: attributes.text('action') || payload.text('action'),
    link: attributes.link('url') ?? payload.link('url'),
    details: [
      [formatAuthor(userName)],
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
