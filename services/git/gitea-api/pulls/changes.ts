import { Problem } from '../../../contracts/problem.ts';
import { checkChangeCount, readLog, countLog } from '../../repositories/commits.ts';
import { sendOutput } from '../../transfer/streams.ts';
import { changedFileJson } from '../../wire/pulls.ts';
import { commitList } from '../commits.ts';
import { ok, type Answer, type Call, type Route } from '../call.ts';
import { listHeaders, parsePage, getPageItems, type Page } from '../paging.ts';
import { getRepositoryAddress } from '../repository-requests.ts';
import { getPull, type PullContext } from './pull-views.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'settings' | 'storage' | 'accessControl' | 'collaboration'>;

/** Builds the routes of the commits, files and diffs of a pull request. */
export function pullChangeRoutes(deps: Dependencies): readonly Route[] {
  const { git, manager } = deps.storage;
  const { pulls } = deps.collaboration;
  const list = commitList(deps.storage);

  return [
    ...(['diff', 'patch'] as const).map((kind): Route => ({
      method: 'GET',
      path: `/repos/:owner/:repo/pulls/:index.${kind}`,
      scope: 'repository',
      handle: async (call) => pullText(deps, await getPull(deps, call), kind),
    })),
    {
      method: 'GET',
      path: '/repos/:owner/:repo/pulls/:index/commits',
      scope: 'repository',
      handle: async (call) => {
        const { issue, repository } = await getPull(deps, call);
        const { head, comparison } = await pulls.state(repository, issue);
        const page = parsePage(call.query);
        const query = { from: [head], exclude: comparison.mergeBase === undefined ? [] : [comparison.mergeBase] };
        const folder = manager.getFolder(repository);
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
        const { issue, repository } = await getPull(deps, call);
        const { head, comparison } = await pulls.state(repository, issue);
        const page = parsePage(call.query);
        const files = getPageItems(comparison.files, page).map((file) =>
          changedFileJson(file, head, getRepositoryAddress(call, repository)),
        );
        return ok(files, pagedHeaders(call, page, comparison.files.length));
      },
    },
  ];
}

/** Streams a pull request as a diff or as a series of patches. @throws Problem (404) */
export async function pullText(
  { storage: { git, manager }, collaboration: { pulls } }: Pick<RouteDependencies, 'storage' | 'collaboration'>,
  { issue, repository }: PullContext,
  kind: 'diff' | 'patch',
): Promise<Answer> {
  const { head, comparison } = await pulls.state(repository, issue);
  if (comparison.mergeBase === undefined) throw new Problem('git.unknown', 404, 'not found');
  await checkChangeCount(git, manager.getFolder(repository), comparison.mergeBase, head);
  const args =
    kind === 'diff'
      ? ['diff-tree', '--patch', '-M', '-r', comparison.mergeBase, head]
      : ['format-patch', '--stdout', `${comparison.mergeBase}..${head}`];
  return {
    status: 200,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
    send: async (response) => sendOutput(await git.start(manager.getFolder(repository), args), response),
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
