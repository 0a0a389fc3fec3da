import { findOwn } from '../../contracts/find-own.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import type { Part } from './payload.ts';
import { commitLines, isNothing, pushWords } from './commits.ts';
import { capital, joined, linesOf, type Program, type Reading } from './adapter.ts';

const done: Readonly<Record<string, string>> = {
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

function push(payload: Part): Reading {
  const commits = payload.list('commits');
  const total = payload.number('total_commits_count') ?? commits.length;
  const deleted = isNothing(payload.text('after'));
  const created = isNothing(payload.text('before'));
  const words = pushWords(payload.text('ref'), { commits: total, created, deleted, forced: false });
  return {
    title: `${payload.text('user_name') || payload.text('user_username')} ${words}`,
    lines: deleted ? [] : commitLines(commits, total),
    type: deleted ? 'warning' : 'info',
  };
}

function read(payload: Part): Reading {
  const kind = payload.text('object_kind');
  const at = payload.part('object_attributes');
  const who = payload.text('user.name') || payload.text('user_name') || 'someone';
  const action = at.text('action') || payload.text('action');
  const link = at.link('url') ?? payload.link('url');
  const by: Reading['lines'] = [
    [`By ${who}`],
    ...linesOf(at.lines('description') || payload.lines('description')).slice(0, 12),
  ];
  switch (kind) {
    case 'push':
    case 'tag_push':
      return push(payload);
    case 'merge_request':
      return {
        title: `MR !${at.text('iid')} ${findOwn(done, action) ?? action}: ${at.text('title')}`,
        lines: by,
        type: action === 'merge' ? 'success' : 'info',
        link,
      };
    case 'issue':
    case 'work_item':
    case 'incident':
      return {
        title: `${capital(kind.replace('_', ' '))} #${at.text('iid')} ${findOwn(done, action) ?? action}: ${at.text('title')}`,
        lines: by,
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
        title: `${who} commented on ${subject || at.text('noteable_type')}`,
        lines: linesOf(at.lines('note')).slice(0, 12),
        type: 'info',
        link,
      };
    }
    case 'pipeline':
      return {
        title: `Pipeline #${at.text('id')} ${at.text('status')}`,
        lines: [[joined(' ', `On ${at.text('ref')}`, `by ${who}`)], ...linesOf(payload.lines('commit.title'))],
        type: findOwn(outcomes, at.text('status')) ?? 'info',
        link,
      };
    case 'build':
      return {
        title: `Job ${payload.text('build_name')} ${payload.text('build_status')}`,
        lines: [[joined(' ', `On ${payload.text('ref')}`, `by ${who}`)]],
        type: findOwn(outcomes, payload.text('build_status')) ?? 'info',
      };
    case 'release':
      return {
        title: `Release ${payload.text('name') || payload.text('tag')} ${action === 'create' ? 'created' : `${action}d`}`,
        lines: linesOf(payload.lines('description')).slice(0, 12),
        type: 'info',
        link,
      };
    default:
      return {
        title: joined(' ', capital(kind.replaceAll('_', ' ')), findOwn(done, action) ?? action),
        lines: by,
        type: 'info',
        link,
      };
  }
}

/** GitLab, whose hooks name their kind in the payload. */
export const gitlab: Program = {
  name: 'GitLab',
  claims: (payload) =>
    payload.text('object_kind') !== '' &&
    (payload.has('project') || payload.has('project_id') || payload.has('repository')),
  read(payload) {
    const reading = read(payload);
    const project =
      payload.text('project.path_with_namespace') || payload.text('project_name') || payload.text('repository.name');
    return {
      ...reading,
      title: joined(' ', project && `[${project}]`, reading.title),
      link: reading.link ?? payload.link('project.web_url'),
    };
  },
};
