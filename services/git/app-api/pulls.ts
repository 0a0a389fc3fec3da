import { implement, type ApiHandler } from '../../contracts/api.ts';
import { gitIssuesApi } from '../../contracts/git/issues.ts';
import { Problem } from '../../contracts/problem.ts';
import { PageProblem } from '../domain/page-problem.ts';
import { hunkAt } from '../domain/hunks.ts';
import { isPull } from '../pulls/pulls.ts';
import { addReview, requestReviews } from '../pulls/reviews.ts';
import { readLog } from '../repositories/commits.ts';
import type { Author } from '../repositories/first-commit.ts';
import { unknown } from '../repositories/lookup.ts';
import { accountsNamed, mayWrite, needOpen, needWrite } from '../gitea-api/issues/issue-access.ts';
import type { PullRestParts } from '../gitea-api/pulls/pull-views.ts';
import { nobody } from '../sign-in/visitor.ts';
import { emailOf } from '../wire/users.ts';
import { compareDiffs } from './diffs.ts';
import { ownAccount, ownIssue, ownRepository, type OwnCall } from './issues.ts';
import { commitView } from './routes.ts';

const mostCommits = 250;
const ok = { ok: true } as const;

/** Pull requests for the pages: what they change, and what is decided about them. */
export function ownPullRoutes(parts: PullRestParts): readonly ApiHandler[] {
  return [...pullRoutes(parts), ...mergeRoutes(parts), ...reviewRoutes(parts)];
}

function pullRoutes(parts: PullRestParts): readonly ApiHandler[] {
  const { git, keeper, pulls } = parts;
  return [
    implement(gitIssuesApi.pull, async ({ body, ...call }) => {
      const { repository } = await ownRepository(parts, call);
      needOpen(repository);
      const commit = await pulls.branch(repository, body.head);
      if (commit === undefined) throw new PageProblem('git.unknown', 404, 'There is no such branch.');
      if (body.head === body.base)
        throw new Problem('git.invalid', 422, 'These are the same branch.', {
          fields: { head: 'Choose another branch than the one it goes into.' },
        });
      const head = { repository, branch: body.head, commit };
      const number = await pulls.create(repository, ownAccount(call), head, body.base, {
        title: body.title,
        body: body.text,
      });
      return { number };
    }),
    implement(gitIssuesApi.changes, async (call) => {
      const { repository, state } = await getPull(parts, call);
      const folder = keeper.folder(repository);
      const from = state.comparison.mergeBase;
      if (from === undefined) return { commits: [], files: [], total: 0, head: state.head };
      const [commits, diff] = await Promise.all([
        readLog(git, folder, { from: [state.head], not: [from], limit: mostCommits }),
        compareDiffs(git, folder, from, state.head),
      ]);
      return { commits: commits.toReversed().map(commitView), ...diff, head: state.head };
    }),
  ];
}

function mergeRoutes(parts: PullRestParts): readonly ApiHandler[] {
  const { access, merges } = parts;
  return [
    implement(gitIssuesApi.merge, async ({ body, ...call }) => {
      const place = await getPull(parts, call);
      needWrite(place);
      const account = ownAccount(call);
      await merges.merge(place.repository, place.issue.number, {
        force: body.force && place.level === 'admin',
        ...{ style: body.style, account, deleteBranch: body.deleteBranch, head: place.state.head },
        committer: await getAuthor(parts, account),
        author: await getAuthor(parts, place.issue.author),
      });
      return ok;
    }),
    implement(gitIssuesApi.update, async (call) => {
      const { issue, repository, state } = await getPull(parts, call);
      const { headRepository } = state;
      if (headRepository === undefined) throw unknown();
      if (!(await access.may({ ...nobody, identity: call.identity }, headRepository, 'write')))
        throw new PageProblem('git.forbidden', 403, 'You may not write to this branch.');
      const account = ownAccount(call);
      await merges.update(repository, issue.number, 'merge', { account, committer: await getAuthor(parts, account) });
      return ok;
    }),
  ];
}

function reviewRoutes(parts: PullRestParts): readonly ApiHandler[] {
  const { git, keeper, writer } = parts;
  return [
    implement(gitIssuesApi.requestReview, async ({ body, ...call }) => {
      const { issue, level, repository } = await getPull(parts, call);
      const account = ownAccount(call);
      needOpen(repository);
      if (issue.author !== account) needWrite({ level, repository });
      const [name = ''] = await accountsNamed(parts, [call.params['account'] ?? '']);
      if (name === issue.author) throw new Problem('git.invalid', 422, 'Who made it cannot review it.');
      await writer.run(repository, account, (work) => requestReviews(work, issue, [name], body.wanted));
      return ok;
    }),
    implement(gitIssuesApi.review, async ({ body, ...call }) => {
      const { issue, level, repository, state } = await getPull(parts, call);
      needOpen(repository);
      const from = state.comparison.mergeBase;
      const files =
        body.remarks.length === 0 || from === undefined
          ? []
          : (await compareDiffs(git, keeper.folder(repository), from, state.head)).files;
      const comments = body.remarks.map(({ path, line, text }) => {
        const patch = files.find((file) => file.path === path)?.patch ?? '';
        return { path, line, body: text, hunk: hunkAt(patch, line) };
      });
      const wanted = { state: body.verdict, body: body.text, commit: state.head, official: mayWrite(level), comments };
      await writer.run(repository, ownAccount(call), (work) => addReview(work, issue, wanted));
      return ok;
    }),
  ];
}

async function getPull(parts: PullRestParts, call: OwnCall) {
  const { pulls } = parts;

  const { issue, ...place } = await ownIssue(parts, call);
  if (!isPull(issue)) throw unknown();
  return { ...place, issue, state: await pulls.state(place.repository, issue) };
}

function getBaseUrl({ context, settings }: PullRestParts): string {
  return settings.publicUrl === '' ? (context.address('git') ?? 'http://127.0.0.1') : settings.publicUrl;
}

async function getAuthor(parts: PullRestParts, account: string): Promise<Author> {
  const { owners } = parts;
  return {
    name: account,
    email: emailOf(await owners.ofAccount(account), getBaseUrl(parts)),
  };
}
