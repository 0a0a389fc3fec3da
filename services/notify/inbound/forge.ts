import { findOwn } from '../../contracts/find-own.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import type { Part } from './payload.ts';
import { commitLines, isNothing, pushWords } from './commits.ts';
import { capital, joined, linesOf, type Program, type Reading } from './adapter.ts';

/** Lines of a description that are shown. */
const mostLines = 12;

const headers = ['x-gitea-event', 'x-forgejo-event', 'x-gogs-event', 'x-github-event'] as const;

function loginOf(payload: Part, ...places: readonly string[]): string {
  const found = places.map(
    (place) => payload.text(`${place}.login`) || payload.text(`${place}.username`) || payload.text(`${place}.name`),
  );
  return found.find((name) => name !== '') ?? 'someone';
}

function excerpt(text: string): Reading['lines'] {
  const lines = linesOf(text);
  return lines.length > mostLines ? [...lines.slice(0, mostLines), ['…']] : lines;
}

/** The event of a payload that came without the header, by what it holds. */
function eventOf(payload: Part): string | undefined {
  if (!payload.has('repository') && !payload.has('organization')) return undefined;
  if (payload.has('ref') && payload.names('commits')) return 'push';
  if (payload.has('pull_request') && payload.has('action')) return 'pull_request';
  if (payload.has('issue') && payload.has('comment')) return 'issue_comment';
  if (payload.has('issue') && payload.has('action')) return 'issues';
  if (payload.has('release') && payload.has('action')) return 'release';
  if (payload.has('workflow_run')) return 'workflow_run';
  if (payload.has('ref_type') && payload.has('ref')) return payload.has('master_branch') ? 'create' : 'delete';
  return payload.has('zen') && payload.has('hook_id') ? 'ping' : undefined;
}

function push(payload: Part): Reading {
  const commits = payload.list('commits');
  const total = payload.number('total_commits') ?? commits.length;
  const deleted = payload.isTrue('deleted') || isNothing(payload.text('after'));
  const forced = payload.isTrue('forced');
  const words = pushWords(payload.text('ref'), {
    ...{ commits: total, deleted, forced },
    created: payload.isTrue('created') || isNothing(payload.text('before')),
  });
  return {
    title: `${loginOf(payload, 'pusher', 'sender')} ${words}`,
    lines: deleted ? [] : commitLines(commits, total),
    type: deleted || forced ? 'warning' : 'info',
    link: payload.link('compare_url') ?? payload.link('compare') ?? payload.link('repository.html_url'),
  };
}

function pullRequest(payload: Part): Reading {
  const merged = payload.isTrue('pull_request.merged') && payload.text('action') === 'closed';
  const action = merged ? 'merged' : payload.text('action').replaceAll('_', ' ');
  const number = payload.text('number') || payload.text('pull_request.number');
  const review = payload.lines('review.content') || payload.lines('review.body');
  return {
    title: `PR #${number} ${action}: ${payload.text('pull_request.title')}`,
    lines: [
      [`By ${loginOf(payload, 'sender', 'pull_request.user')}`],
      ...excerpt(review || payload.lines('pull_request.body')),
    ],
    type: merged ? 'success' : 'info',
    link: payload.link('review.html_url') ?? payload.link('pull_request.html_url'),
  };
}

function issue(payload: Part): Reading {
  const comment = payload.has('comment');
  const kind = payload.has('issue.pull_request') || payload.isTrue('is_pull') ? 'PR' : 'Issue';
  const what = comment ? `comment ${payload.text('action')}` : payload.text('action').replaceAll('_', ' ');
  return {
    title: `${kind} #${payload.text('issue.number')} ${what}: ${payload.text('issue.title')}`,
    lines: [
      [`By ${loginOf(payload, 'sender', comment ? 'comment.user' : 'issue.user')}`],
      ...excerpt(payload.lines(comment ? 'comment.body' : 'issue.body')),
    ],
    type: 'info',
    link: payload.link(comment ? 'comment.html_url' : 'issue.html_url'),
  };
}

function release(payload: Part): Reading {
  const name = payload.text('release.name');
  const tag = payload.text('release.tag_name');
  return {
    title: `Release ${joined(' ', name || tag, name === '' || name === tag ? '' : `(${tag})`)} ${payload.text('action')}`,
    lines: [[`By ${loginOf(payload, 'sender', 'release.author')}`], ...excerpt(payload.lines('release.body'))],
    type: 'info',
    link: payload.link('release.html_url'),
  };
}

const conclusions: Readonly<Record<string, NotificationType>> = {
  success: 'success',
  failure: 'failure',
  timed_out: 'failure',
  startup_failure: 'failure',
  cancelled: 'warning',
  action_required: 'warning',
  stale: 'warning',
};

/** A run of a workflow or one of its checks; only its end has a conclusion. */
function run(payload: Part, at: string): Reading {
  const conclusion = payload.text(`${at}.conclusion`);
  const name = payload.text(`${at}.name`) || payload.text(`${at}.display_title`) || 'Workflow';
  const number = payload.text(`${at}.run_number`);
  return {
    title: `${name} ${joined(' ', number && `#${number}`, (conclusion || payload.text('action')).replaceAll('_', ' '))}`,
    lines: [
      [
        joined(
          ' ',
          payload.text(`${at}.display_title`),
          payload.text(`${at}.head_branch`) && `on ${payload.text(`${at}.head_branch`)}`,
        ),
      ],
      [joined(' ', payload.text(`${at}.head_sha`).slice(0, 7), `by ${loginOf(payload, `${at}.actor`, 'sender')}`)],
    ],
    type: findOwn(conclusions, conclusion) ?? 'info',
    link: payload.link(`${at}.html_url`),
  };
}

function read(event: string, payload: Part): Reading {
  const who = loginOf(payload, 'sender');
  const kind = payload.text('ref_type') || 'ref';
  switch (event) {
    case 'push':
      return push(payload);
    case 'create':
      return {
        title: `${who} created the ${kind} ${payload.text('ref')}`,
        lines: [],
        type: 'info',
        link: payload.link('repository.html_url'),
      };
    case 'delete':
      return {
        title: `${who} deleted the ${kind} ${payload.text('ref')}`,
        lines: [],
        type: 'warning',
        link: payload.link('repository.html_url'),
      };
    case 'release':
      return release(payload);
    case 'workflow_run':
    case 'workflow_job':
    case 'check_run':
    case 'check_suite':
      return run(payload, event);
    case 'ping':
      return {
        title: 'The webhook works',
        lines: [[payload.text('zen')]],
        type: 'info',
        link: payload.link('repository.html_url'),
      };
    default:
      if (payload.has('pull_request')) return pullRequest(payload);
      if (payload.has('issue')) return issue(payload);
      return {
        title: joined(' ', capital(event.replaceAll('_', ' ')), payload.text('action').replaceAll('_', ' ')),
        lines: [[`By ${who}`]],
        type: 'info',
        link: payload.link('repository.html_url'),
      };
  }
}

/** Gitea, Forgejo, Gogs and GitHub, whose hooks are alike. */
export const forge: Program = {
  name: 'Git',
  claims: (payload, header) =>
    eventOf(payload) !== undefined ||
    (headers.some((name) => header(name) !== undefined) && (payload.has('repository') || payload.has('sender'))),
  read(payload, header) {
    const named = headers.map(header).find((event) => event !== undefined && /^[a-z_]{1,50}$/.test(event));
    const event = named ?? eventOf(payload);
    if (event === undefined) return undefined;
    const reading = read(event, payload);
    const repository = payload.text('repository.full_name') || payload.text('organization.login');
    const lines = reading.lines.filter((line) => line.some((piece) => piece !== ''));
    const own = header('x-gitea-event') ?? header('x-forgejo-event') ?? header('x-gogs-event');
    const source = own !== undefined ? 'gitea' : header('x-github-event') !== undefined ? 'github' : 'git';
    return {
      ...reading,
      source,
      title: joined(' ', repository && `[${repository}]`, reading.title),
      lines,
    };
  },
};
