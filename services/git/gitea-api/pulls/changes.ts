import { Problem } from '../../../contracts/problem.ts';
import { checkChanges, readLog, countLog } from '../../repositories/commits.ts';
import { pour } from '../../transfer/flow.ts';
import { changedFileJson } from '../../wire/pulls.ts';
import { commitList } from '../commits.ts';
import { ok, type Answer, type Call, type Route } from '../call.ts';
import { listHeaders, pageOf, partOf, type Page } from '../paging.ts';
import { placeOf } from '../api-dependencies.ts';
import { pullAt, type PullPlace, type PullRestParts } from './pull-views.ts';

/** What a pull request would change: its commits, its files and their lines. */
export function pullChangeRoutes(parts: PullRestParts): readonly Route[] {
  const { git, keeper, pulls } = parts;
  const list = commitList(parts);

  return [
    ...(['diff', 'patch'] as const).map((kind): Route => ({
      method: 'GET',
      path: `/repos/:owner/:repo/pulls/:index.${kind}`,
      scope: 'repository',
      handle: async (call) => pullText(parts, await pullAt(parts, call), kind),
    })),
    {
      method: 'GET',
      path: '/repos/:owner/:repo/pulls/:index/commits',
      scope: 'repository',
      handle: async (call) => {
        const { issue, repository } = await pullAt(parts, call);
        const { head, comparison } = await pulls.state(repository, issue);
        const page = pageOf(call.query);
        const query = { from: [head], not: comparison.mergeBase === undefined ? [] : [comparison.mergeBase] };
        const folder = keeper.folder(repository);
        const [commits, total] = await Promise.all([
          readLog(git, folder, { ...query, limit: page.limit, offset: page.offset }),
          countLog(git, folder, query),
        ]);
        return ok(await list(call, repository, commits), pagedHeaders(call, page, total));
      },
    },
    {
      method: 'GET',
      path: '/repos/:owner/:repo/pulls/:index/files',
      scope: 'repository',
      handle: async (call) => {
        const { issue, repository } = await pullAt(parts, call);
        const { head, comparison } = await pulls.state(repository, issue);
        const page = pageOf(call.query);
        const some = partOf(comparison.files, page).map((file) =>
          changedFileJson(file, head, placeOf(call, repository)),
        );
        return ok(some, pagedHeaders(call, page, comparison.files.length));
      },
    },
  ];
}

/** A pull request as a diff, or as mails of its commits. @throws Problem (404) */
export async function pullText(
  { git, keeper, pulls }: Pick<PullRestParts, 'git' | 'keeper' | 'pulls'>,
  { issue, repository }: PullPlace,
  kind: 'diff' | 'patch',
): Promise<Answer> {
  const { head, comparison } = await pulls.state(repository, issue);
  if (comparison.mergeBase === undefined) throw new Problem('git.unknown', 404, 'not found');
  await checkChanges(git, keeper.folder(repository), comparison.mergeBase, head);
  const args =
    kind === 'diff'
      ? ['diff-tree', '--patch', '-M', '-r', comparison.mergeBase, head]
      : ['format-patch', '--stdout', `${comparison.mergeBase}..${head}`];
  return {
    status: 200,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
    send: async (response) => pour(await git.start(keeper.folder(repository), args), response),
  };
}

function pagedHeaders(call: Call, page: Page, total: number): NonNullable<Answer['headers']> {
  const pages = Math.ceil(total / page.limit);
  return {
    ...listHeaders(call, page, total),
    'X-Page': page.page,
    'X-PerPage': page.limit,
    'X-PageCount': pages,
    'X-HasMore': String(page.page < pages),
    'Access-Control-Expose-Headers': 'Link, X-Total-Count, X-Page, X-PerPage, X-PageCount, X-HasMore',
  };
}
