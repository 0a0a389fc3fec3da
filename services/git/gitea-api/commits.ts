import { normalizeTreePath } from '../domain/names.ts';
import {
  checkChangeCount,
  countLog,
  ignoreTooLarge,
  readChanges,
  readCommit,
  readLog,
  type Commit,
  type Signature,
} from '../repositories/commits.ts';
import { CachedLogs } from '../repositories/cached-logs.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import { resolveRange } from '../repositories/revision-range.ts';
import { resolveRevision } from '../repositories/revisions.ts';
import { sendOutput } from '../transfer/streams.ts';
import { commitJson } from '../wire/commits.ts';
import { toUserJson } from '../wire/users.ts';
import { ok, route, type Answer, type Call, type Route } from './call.ts';
import { parseFlag, listHeaders, parsePage } from './paging.ts';
import { getRepositoryName, getRepositoryAddress } from './repository-requests.ts';
import type { RouteDependencies } from '../components.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';

type CommitDependencies = Pick<RouteDependencies, 'storage' | 'accessControl'>;
type Dependencies = CommitDependencies & { readonly logs: CachedLogs };

/** Builds the routes of commits: lists, single commits and comparisons. */
export function commitRoutes(deps: CommitDependencies): readonly Route[] {
  return buildCommitRoutes({ ...deps, logs: new CachedLogs(deps.storage.git) });
}

function buildCommitRoutes(deps: Dependencies): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/commits', 'repository', (call) => listCommits(deps, call)),
    route('GET', '/repos/:owner/:repo/git/commits/:sha.diff', 'repository', (call) =>
      sendCommitText(deps, call, 'diff'),
    ),
    route('GET', '/repos/:owner/:repo/git/commits/:sha.patch', 'repository', (call) =>
      sendCommitText(deps, call, 'patch'),
    ),
    route('GET', '/repos/:owner/:repo/git/commits/:sha', 'repository', (call) =>
      readOneCommit(deps, call, call.params['sha'] ?? ''),
    ),
    route('GET', '/repos/:owner/:repo/compare/*both', 'repository', (call) => compareCommits(deps, call)),
  ];
}

async function findRepository({ storage: { manager }, accessControl: { lookup } }: Dependencies, call: Call) {
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'read');
  return { repository, folder: manager.getFolder(repository) };
}

async function readOneCommit(deps: Dependencies, call: Call, name: string): Promise<Answer> {
  const { git, objects } = deps.storage;
  const list = commitList(deps.storage);
  const { repository, folder } = await findRepository(deps, call);
  const revision = await resolveRevision(objects, folder, repository, name);
  const commit = revision && (await readCommit(git, folder, revision.commit));
  if (commit === undefined) throw buildNotFoundProblem();
  const [json] = await list(call, repository, [commit]);
  return ok(json);
}

async function sendCommitText(deps: Dependencies, call: Call, kind: 'diff' | 'patch'): Promise<Answer> {
  const { git, objects } = deps.storage;
  const { repository, folder } = await findRepository(deps, call);
  const revision = await resolveRevision(objects, folder, repository, call.params['sha']);
  if (revision === undefined) throw buildNotFoundProblem();
  await checkChangeCount(git, folder, revision.commit);
  const args =
    kind === 'diff'
      ? ['diff-tree', '--patch', '-M', '--root', '--no-commit-id', '--diff-merges=first-parent', '-r', revision.commit]
      : ['format-patch', '--stdout', '-1', revision.commit];
  return {
    status: 200,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
    // Started here because `send` is not called for a HEAD request.
    send: async (response) => sendOutput(await git.start(folder, args), response),
  };
}

async function listCommits(deps: Dependencies, call: Call): Promise<Answer> {
  const { logs } = deps;
  const { objects } = deps.storage;
  const list = commitList(deps.storage);

  const { repository, folder } = await findRepository(deps, call);
  const page = parsePage(call.query);
  const path = normalizeTreePath(call.query.get('path') ?? '');
  if (repository.empty) return ok([], listHeaders(call, page, 0));
  const from = await resolveRevision(objects, folder, repository, call.query.get('sha'));
  if (from === undefined || path === undefined) throw buildNotFoundProblem();
  const excludedName = call.query.get('not');
  const excluded =
    excludedName === null || excludedName === ''
      ? undefined
      : await resolveRevision(objects, folder, repository, excludedName);
  const query = { from: [from.commit], exclude: excluded === undefined ? [] : [excluded.commit], path };
  const [commits, total] = await Promise.all([
    logs.read(folder, { ...query, limit: page.limit, offset: page.offset }),
    logs.count(folder, query),
  ]);
  const pages = Math.ceil(total / page.limit);
  return ok(await list(call, repository, commits), {
    ...listHeaders(call, page, total),
    'X-Page': page.page,
    'X-PerPage': page.limit,
    'X-Total': total,
    'X-PageCount': pages,
    'X-HasMore': String(page.page < pages),
    'Access-Control-Expose-Headers': 'Link, X-Total-Count, X-Page, X-PerPage, X-Total, X-PageCount, X-HasMore',
  });
}

async function compareCommits(deps: Dependencies, call: Call): Promise<Answer> {
  const { git } = deps.storage;
  const list = commitList(deps.storage);
  const { repository, folder } = await findRepository(deps, call);
  const range = await resolveRange(deps, call.caller, repository, call.params['both'] ?? '');
  if (range === undefined) throw buildNotFoundProblem();
  const { from, to } = range;
  const commits = await readLog(git, folder, { from: [to.commit], exclude: [from.commit], limit: 250 });
  const total = await countLog(git, folder, { from: [to.commit], exclude: [from.commit] });
  return ok({ total_commits: total, commits: await list(call, repository, commits) });
}

/** Creates a function that converts commits to JSON, with the changed files that the query requests. */
export function commitList({
  git,
  manager,
  owners,
  repositories,
}: Pick<RepositoryStorage, 'git' | 'manager' | 'owners' | 'repositories'>) {
  /** Maps the email addresses of commits to accounts. */
  const loadUsers = async (call: Call, commits: readonly Commit[]) => {
    const accounts = await owners.findAccountsByEmail(
      commits.flatMap(({ author, committer }) => [author.email, committer.email]),
    );
    const names = new Set(accounts.values());
    const usersByEmail = new Map<string, unknown>();
    for (const name of names) {
      const row = await repositories.findOwner(name);
      if (row !== undefined) usersByEmail.set(name, toUserJson(row, call.base));
    }
    return ({ email }: Signature): unknown => usersByEmail.get(accounts.get(email) ?? '') ?? null;
  };
  return async (call: Call, repository: Repository, commits: readonly Commit[]) => {
    const stat = parseFlag(call.query, 'stat') ?? true;
    const files = parseFlag(call.query, 'files') ?? true;
    const ids = stat || files ? commits.map(({ id }) => id) : [];
    const changes = await readChanges(git, manager.getFolder(repository), ids).catch(ignoreTooLarge);
    const toUser = await loadUsers(call, commits);
    return commits.map((commit) =>
      commitJson(commit, getRepositoryAddress(call, repository), {
        changes: changes?.get(commit.id),
        stat,
        files,
        toUser,
      }),
    );
  };
}
