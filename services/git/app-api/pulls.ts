import * as m from '#messages/git-problems';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { gitIssuesApi } from '../../contracts/git/issues.ts';
import { Problem } from '../../contracts/problem.ts';
import { PageProblem } from '../domain/page-problem.ts';
import { extractHunk } from '../domain/hunks.ts';
import { isPull } from '../pulls/pulls.ts';
import { addReview, requestReviews } from '../pulls/reviews.ts';
import { readLog } from '../repositories/commits.ts';
import type { Author } from '../repositories/first-commit.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { resolveAccounts, mayWrite, requireNotArchived, requireWrite } from '../gitea-api/issues/issue-access.ts';
import { anonymousCaller } from '../sign-in/caller.ts';
import { getCommitEmail } from '../repositories/commit-email.ts';
import { compareDiffs } from './diffs.ts';
import { getAccount, getIssue, getRepository, type AppCall } from './issues.ts';
import { commitView } from './routes.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl' | 'collaboration'>;

const maxCommits = 250;
const ok = { ok: true } as const;

/** Builds the routes of pull requests for the pages: changes, merges and reviews. */
export function pullRequestRoutes(deps: Dependencies): readonly ApiHandler[] {
  return [...pullRoutes(deps), ...mergeRoutes(deps), ...reviewRoutes(deps)];
}

function pullRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { git, manager } = deps.storage;
  const { pulls } = deps.collaboration;
  return [
    implement(gitIssuesApi.pull, async ({ body, ...call }) => {
      const { repository } = await getRepository(deps.accessControl, call);
      requireNotArchived(repository);
      const commit = await pulls.findBranch(repository, body.head);
      if (commit === undefined) throw new PageProblem('git.unknown', 404, m.branchNotFound());
      if (body.head === body.base)
        throw new Problem('git.invalid', 422, m.pullBranchesEqual(), { fields: { head: m.pullBranchesEqual() } });
      const head = { repository, branch: body.head, commit };
      const number = await pulls.create(repository, getAccount(call), head, body.base, {
        title: body.title,
        body: body.text,
      });
      return { number };
    }),
    implement(gitIssuesApi.changes, async (call) => {
      const { repository, state } = await getPull(deps, call);
      const folder = manager.getFolder(repository);
      const from = state.comparison.mergeBase;
      if (from === undefined) return { commits: [], files: [], total: 0, head: state.head };
      const [commits, diff] = await Promise.all([
        readLog(git, folder, { from: [state.head], exclude: [from], limit: maxCommits }),
        compareDiffs(git, folder, from, state.head, { hidesWhitespace: call.query.whitespace === 'hide' }),
      ]);
      return { commits: commits.toReversed().map(commitView), ...diff, head: state.head };
    }),
  ];
}

function mergeRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { access } = deps.accessControl;
  const { merges } = deps.collaboration;
  return [
    implement(gitIssuesApi.merge, async ({ body, ...call }) => {
      const target = await getPull(deps, call);
      requireWrite(target);
      const account = getAccount(call);
      await merges.merge(target.repository, target.issue.number, {
        force: body.force && target.level === 'admin',
        style: body.style,
        account,
        deleteBranch: body.deleteBranch,
        head: target.state.head,
        committer: await getAuthor(deps, account),
        author: await getAuthor(deps, target.issue.author),
      });
      return ok;
    }),
    implement(gitIssuesApi.update, async (call) => {
      const { issue, repository, state } = await getPull(deps, call);
      const { headRepository } = state;
      if (headRepository === undefined) throw buildNotFoundProblem();
      if (!(await access.hasLevel({ ...anonymousCaller, identity: call.identity }, headRepository, 'write')))
        throw new PageProblem('git.forbidden', 403, m.branchWriteDenied());
      const account = getAccount(call);
      await merges.update(repository, issue.number, 'merge', { account, committer: await getAuthor(deps, account) });
      return ok;
    }),
  ];
}

function reviewRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { git, manager } = deps.storage;
  const { writer } = deps.collaboration;
  return [
    implement(gitIssuesApi.requestReview, async ({ body, ...call }) => {
      const { issue, level, repository } = await getPull(deps, call);
      const account = getAccount(call);
      requireNotArchived(repository);
      if (issue.author !== account) requireWrite({ level, repository });
      const [name = ''] = await resolveAccounts(deps, [call.params['account'] ?? '']);
      if (name === issue.author) throw new Problem('git.invalid', 422, m.authorCannotReview());
      await writer.run(repository, account, (work) => requestReviews(work, issue, [name], body.wanted));
      return ok;
    }),
    implement(gitIssuesApi.review, async ({ body, ...call }) => {
      const { issue, level, repository, state } = await getPull(deps, call);
      requireNotArchived(repository);
      const from = state.comparison.mergeBase;
      const files =
        body.remarks.length === 0 || from === undefined
          ? []
          : (await compareDiffs(git, manager.getFolder(repository), from, state.head)).files;
      const comments = body.remarks.map(({ path, line, text }) => {
        const patch = files.find((file) => file.path === path)?.patch ?? '';
        return { path, line, body: text, hunk: extractHunk(patch, line) };
      });
      const newReview = {
        state: body.verdict,
        body: body.text,
        commit: state.head,
        official: mayWrite(level),
        comments,
      };
      await writer.run(repository, getAccount(call), (work) => addReview(work, issue, newReview));
      return ok;
    }),
  ];
}

async function getPull(deps: Dependencies, call: AppCall) {
  const { pulls } = deps.collaboration;

  const { issue, ...target } = await getIssue(deps, call);
  if (!isPull(issue)) throw buildNotFoundProblem();
  return { ...target, issue, state: await pulls.state(target.repository, issue) };
}

function getBaseUrl({ context, settings }: Dependencies): string {
  return settings.publicUrl === '' ? (context.address('git') ?? 'http://127.0.0.1') : settings.publicUrl;
}

async function getAuthor(deps: Dependencies, account: string): Promise<Author> {
  const { owners } = deps.storage;
  return {
    name: account,
    email: getCommitEmail(await owners.getForAccount(account), getBaseUrl(deps)),
  };
}
