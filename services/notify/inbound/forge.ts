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

/** Maximum number of lines of a description. */
const maxLines = 12;

const headers = ['x-gitea-event', 'x-forgejo-event', 'x-gogs-event', 'x-github-event'] as const;

/** Returns the first name of an account at these paths; empty without one. */
function findLogin(payload: Payload, ...places: readonly string[]): string {
  const logins = places.map(
    (path) => payload.text(`${path}.login`) || payload.text(`${path}.username`) || payload.text(`${path}.name`),
  );
  return logins.find((name) => name !== '') ?? '';
}

/** Returns the name of the account that acts in a sentence. */
function findUser(payload: Payload, ...places: readonly string[]): string {
  return findLogin(payload, ...places) || m.someone();
}

/** Returns the action of an event for a message, and as text for an action that the message does not know. */
function toAction(action: string): { readonly action: string; readonly label: string } {
  // GitHub has another name than Gitea.
  return { action: action === 'synchronize' ? 'synchronized' : action, label: action.replaceAll('_', ' ') };
}

function excerpt(text: string): InboundNotification['lines'] {
  const lines = toLines(text);
  return lines.length > maxLines ? [...lines.slice(0, maxLines), ['…']] : lines;
}

/** Returns the event of a payload without an event header, by its fields. */
function detectEvent(payload: Payload): string | undefined {
  if (!payload.has('repository') && !payload.has('organization')) return undefined;
  if (payload.has('ref') && payload.hasKey('commits')) return 'push';
  if (payload.has('pull_request') && payload.has('action')) return 'pull_request';
  if (payload.has('issue') && payload.has('comment')) return 'issue_comment';
  if (payload.has('issue') && payload.has('action')) return 'issues';
  if (payload.has('release') && payload.has('action')) return 'release';
  if (payload.has('workflow_run')) return 'workflow_run';
  if (payload.has('ref_type') && payload.has('ref')) return payload.has('master_branch') ? 'create' : 'delete';
  return payload.has('zen') && payload.has('hook_id') ? 'ping' : undefined;
}

function parsePush(payload: Payload): InboundNotification {
  const commits = payload.list('commits');
  const total = payload.number('total_commits') ?? commits.length;
  const deleted = payload.isTrue('deleted') || isZeroHash(payload.text('after'));
  const forced = payload.isTrue('forced');
  const title = describePush(findUser(payload, 'pusher', 'sender'), payload.text('ref'), {
    commits: total,
    deleted,
    forced,
    created: payload.isTrue('created') || isZeroHash(payload.text('before')),
  });
  return {
    title,
    lines: deleted ? [] : formatCommits(commits, total),
    type: deleted || forced ? 'warning' : 'info',
    link: payload.link('compare_url') ?? payload.link('compare') ?? payload.link('repository.html_url'),
  };
}

function parsePullRequest(payload: Payload): InboundNotification {
  const merged = payload.isTrue('pull_request.merged') && payload.text('action') === 'closed';
  const number = payload.text('number') || payload.text('pull_request.number');
  const review = payload.lines('review.content') || payload.lines('review.body');
  return {
    title: m.pullRequest({
      number,
      ...toAction(merged ? 'merged' : payload.text('action')),
      title: payload.text('pull_request.title'),
    }),
    lines: [
      [formatAuthor(findLogin(payload, 'sender', 'pull_request.user'))],
      ...excerpt(review || payload.lines('pull_request.body')),
    ],
    type: merged ? 'success' : 'info',
    link: payload.link('review.html_url') ?? payload.link('pull_request.html_url'),
  };
}

function parseIssue(payload: Payload): InboundNotification {
  const comment = payload.has('comment');
  const isPullRequest = payload.has('issue.pull_request') || payload.isTrue('is_pull');
  const formatChange = isPullRequest ? m.pullRequest : m.issue;
  const formatComment = isPullRequest ? m.pullRequestComment : m.issueComment;
  return {
    title: (comment ? formatComment : formatChange)({
      number: payload.text('issue.number'),
      ...toAction(payload.text('action')),
      title: payload.text('issue.title'),
    }),
    lines: [
      [formatAuthor(findLogin(payload, 'sender', comment ? 'comment.user' : 'issue.user'))],
      ...excerpt(payload.lines(comment ? 'comment.body' : 'issue.body')),
    ],
    type: 'info',
    link: payload.link(comment ? 'comment.html_url' : 'issue.html_url'),
  };
}

function parseRelease(payload: Payload): InboundNotification {
  const name = payload.text('release.name');
  const tag = payload.text('release.tag_name');
  return {
    title: m.release({
      name: joinTexts(' ', name || tag, name === '' || name === tag ? '' : `(${tag})`),
      ...toAction(payload.text('action')),
    }),
    lines: [[formatAuthor(findLogin(payload, 'sender', 'release.author'))], ...excerpt(payload.lines('release.body'))],
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

/** Parses a workflow run or one of its checks; only finished ones have a conclusion. */
function parseRun(payload: Payload, path: string): InboundNotification {
  const conclusion = payload.text(`${path}.conclusion`);
  const name = payload.text(`${path}.name`) || payload.text(`${path}.display_title`) || m.workflow();
  const number = payload.text(`${path}.run_number`);
  const status = conclusion || payload.text('action');
  const commit = payload.text(`${path}.head_sha`).slice(0, 7);
  const user = findLogin(payload, `${path}.actor`, 'sender');
  return {
    title: m.run({
      name: joinTexts(' ', name, number && `#${number}`),
      status,
      label: status.replaceAll('_', ' '),
    }),
    lines: [
      [formatRunSubject(payload.text(`${path}.display_title`), payload.text(`${path}.head_branch`))],
      [commit === '' ? formatAuthor(user) : m.commitBy({ commit, name: user || m.someone() })],
    ],
    type: findOwn(conclusions, conclusion) ?? 'info',
    link: payload.link(`${path}.html_url`),
  };
}

/** Formats the commit of a run and its branch, as far as the payload has them. */
function formatRunSubject(title: string, branch: string): string {
  if (branch === '') return title;
  return title === '' ? m.onBranch({ branch }) : m.titleOnBranch({ title, branch });
}

/** Describes a new branch or tag. */
function describeCreation(payload: Payload): string {
  const [user, ref] = [findUser(payload, 'sender'), payload.text('ref')];
  const kind = payload.text('ref_type');
  if (kind === 'branch') return m.createdBranch({ user, branch: ref });
  return kind === 'tag' ? m.createdTag({ user, tag: ref }) : m.createdRef({ user, ref });
}

/** Describes a deleted branch or tag. */
function describeDeletion(payload: Payload): string {
  const [user, ref] = [findUser(payload, 'sender'), payload.text('ref')];
  const kind = payload.text('ref_type');
  if (kind === 'branch') return m.deletedBranch({ user, branch: ref });
  return kind === 'tag' ? m.deletedTag({ user, tag: ref }) : m.deletedRef({ user, ref });
}

function parseEvent(event: string, payload: Payload): InboundNotification {
  switch (event) {
    case 'push':
      return parsePush(payload);
    case 'create':
      return {
        title: describeCreation(payload),
        lines: [],
        type: 'info',
        link: payload.link('repository.html_url'),
      };
    case 'delete':
      return {
        title: describeDeletion(payload),
        lines: [],
        type: 'warning',
        link: payload.link('repository.html_url'),
      };
    case 'release':
      return parseRelease(payload);
    case 'workflow_run':
    case 'workflow_job':
    case 'check_run':
    case 'check_suite':
      return parseRun(payload, event);
    case 'ping':
      return {
        title: m.webhookWorks(),
        lines: [[payload.text('zen')]],
        type: 'info',
        link: payload.link('repository.html_url'),
      };
    default:
      if (payload.has('pull_request')) return parsePullRequest(payload);
      if (payload.has('issue')) return parseIssue(payload);
      return {
        // Homeport has no words for an event that it does not know.
        title: joinTexts(' ', capitalize(event.replaceAll('_', ' ')), payload.text('action').replaceAll('_', ' ')),
        lines: [[formatAuthor(findLogin(payload, 'sender'))]],
        type: 'info',
        link: payload.link('repository.html_url'),
      };
  }
}

/** Adapter for Gitea, Forgejo, Gogs and GitHub, whose hooks are similar. */
export const forge: InboundAdapter = {
  name: 'Git',
  matches: (payload, header) =>
    detectEvent(payload) !== undefined ||
    (headers.some((name) => header(name) !== undefined) && (payload.has('repository') || payload.has('sender'))),
  parse(payload, header) {
    const headerEvent = headers.map(header).find((event) => event !== undefined && /^[a-z_]{1,50}$/.test(event));
    const event = headerEvent ?? detectEvent(payload);
    if (event === undefined) return undefined;
    const notification = parseEvent(event, payload);
    const repository = payload.text('repository.full_name') || payload.text('organization.login');
    const lines = notification.lines.filter((line) => line.some((piece) => piece !== ''));
    const giteaEvent = header('x-gitea-event') ?? header('x-forgejo-event') ?? header('x-gogs-event');
    const source = giteaEvent !== undefined ? 'gitea' : header('x-github-event') !== undefined ? 'github' : 'git';
    return {
      ...notification,
      source,
      title: joinTexts(' ', repository && `[${repository}]`, notification.title),
      lines,
    };
  },
};
