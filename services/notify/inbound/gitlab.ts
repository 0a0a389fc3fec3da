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

function parsePush(payload: Payload): InboundNotification {
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

function parseEvent(payload: Payload): InboundNotification {
  const kind = payload.text('object_kind');
  const attributes = payload.object('object_attributes');
  const userName = payload.text('user.name') || payload.text('user_name') || 'someone';
  const action = attributes.text('action') || payload.text('action');
  const link = attributes.link('url') ?? payload.link('url');
  const details: InboundNotification['lines'] = [
    [`By ${userName}`],
    ...toLines(attributes.lines('description') || payload.lines('description')).slice(0, 12),
  ];
  switch (kind) {
    case 'push':
    case 'tag_push':
      return parsePush(payload);
    case 'merge_request':
      return {
        title: `MR !${attributes.text('iid')} ${findOwn(actionLabels, action) ?? action}: ${attributes.text('title')}`,
        lines: details,
        type: action === 'merge' ? 'success' : 'info',
        link,
      };
    case 'issue':
    case 'work_item':
    case 'incident':
      return {
        title:
          `${capitalize(kind.replace('_', ' '))} #${attributes.text('iid')} ` +
          `${findOwn(actionLabels, action) ?? action}: ${attributes.text('title')}`,
        lines: details,
        type: 'info',
        link,
      };
    case 'note': {
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
    case 'pipeline':
      return {
        title: `Pipeline #${attributes.text('id')} ${attributes.text('status')}`,
        lines: [
          [joinTexts(' ', `On ${attributes.text('ref')}`, `by ${userName}`)],
          ...toLines(payload.lines('commit.title')),
        ],
        type: findOwn(outcomes, attributes.text('status')) ?? 'info',
        link,
      };
    case 'build':
      return {
        title: `Job ${payload.text('build_name')} ${payload.text('build_status')}`,
        lines: [[joinTexts(' ', `On ${payload.text('ref')}`, `by ${userName}`)]],
        type: findOwn(outcomes, payload.text('build_status')) ?? 'info',
      };
    case 'release':
      return {
        title: `Release ${payload.text('name') || payload.text('tag')} ${action === 'create' ? 'created' : `${action}d`}`,
        lines: toLines(payload.lines('description')).slice(0, 12),
        type: 'info',
        link,
      };
    default:
      return {
        title: joinTexts(' ', capitalize(kind.replaceAll('_', ' ')), findOwn(actionLabels, action) ?? action),
        lines: details,
        type: 'info',
        link,
      };
  }
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
