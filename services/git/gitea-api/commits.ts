import { treePath } from '../domain/names.ts';
import {
  checkChanges,
  countLog,
  noneOfTooMany,
  readChanges,
  readCommit,
  readLog,
  type Commit,
  type Signature,
} from '../repositories/commits.ts';
import { KnownLogs } from '../repositories/cached-logs.ts';
import { unknown } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import { resolve } from '../repositories/revisions.ts';
import { pour } from '../transfer/flow.ts';
import { commitJson } from '../wire/commits.ts';
import { userOf } from '../wire/users.ts';
import { ok, route, type Answer, type Call, type Route } from './call.ts';
import { flag, listHeaders, pageOf } from './paging.ts';
import { named, placeOf, type RestParts } from './api-dependencies.ts';

interface CommitDependencies extends RestParts {
  readonly logs: KnownLogs;
}

/** Builds the routes of commits: lists, single commits and comparisons. */
export function commitRoutes(parts: RestParts): readonly Route[] {
  return buildCommitRoutes({ ...parts, logs: new KnownLogs(parts.git) });
}

function buildCommitRoutes(parts: CommitDependencies): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/commits', 'repository', (call) => listCommits(parts, call)),
    route('GET', '/repos/:owner/:repo/git/commits/:sha.diff', 'repository', (call) =>
      sendCommitText(parts, call, 'diff'),
    ),
    route('GET', '/repos/:owner/:repo/git/commits/:sha.patch', 'repository', (call) =>
      sendCommitText(parts, call, 'patch'),
    ),
    route('GET', '/repos/:owner/:repo/git/commits/:sha', 'repository', (call) =>
      readOneCommit(parts, call, call.params['sha'] ?? ''),
    ),
    route('GET', '/repos/:owner/:repo/compare/*both', 'repository', (call) => compareCommits(parts, call)),
  ];
}

async function findRepository({ keeper, lookup }: CommitDependencies, call: Call) {
  const repository = await lookup.need(call.visitor, named(call), 'read');
  return { repository, folder: keeper.folder(repository) };
}

async function readOneCommit(parts: CommitDependencies, call: Call, name: string): Promise<Answer> {
  const { git, objects } = parts;
  const list = commitList(parts);

  const { repository, folder } = await findRepository(parts, call);
  const revision = await resolve(objects, folder, repository, name);
  const commit = revision && (await readCommit(git, folder, revision.commit));
  if (commit === undefined) throw unknown();
  const [json] = await list(call, repository, [commit]);
  return ok(json);
}

async function sendCommitText(parts: CommitDependencies, call: Call, kind: 'diff' | 'patch'): Promise<Answer> {
  const { git, objects } = parts;
  const { repository, folder } = await findRepository(parts, call);
  const revision = await resolve(objects, folder, repository, call.params['sha']);
  if (revision === undefined) throw unknown();
  await checkChanges(git, folder, revision.commit);
  const args =
    kind === 'diff'
      ? ['diff-tree', '--patch', '-M', '--root', '--no-commit-id', '--diff-merges=first-parent', '-r', revision.commit]
      : ['format-patch', '--stdout', '-1', revision.commit];
  return {
    status: 200,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
    // Begun here and not before, since a HEAD never sends anything.
    send: async (response) => pour(await git.start(folder, args), response),
  };
}

async function listCommits(parts: CommitDependencies, call: Call): Promise<Answer> {
  const { objects, logs } = parts;
  const list = commitList(parts);

  const { repository, folder } = await findRepository(parts, call);
  const page = pageOf(call.query);
  const path = treePath(call.query.get('path') ?? '');
  if (repository.empty) return ok([], listHeaders(call, page, 0));
  const from = await resolve(objects, folder, repository, call.query.get('sha'));
  if (from === undefined || path === undefined) throw unknown();
  const not = call.query.get('not');
  const excluded = not === null || not === '' ? undefined : await resolve(objects, folder, repository, not);
  const query = { from: [from.commit], not: excluded === undefined ? [] : [excluded.commit], path };
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

async function compareCommits(parts: CommitDependencies, call: Call): Promise<Answer> {
  const { git, objects } = parts;
  const list = commitList(parts);

  const { repository, folder } = await findRepository(parts, call);
  const [base, head] = (call.params['both'] ?? '').split(/\.{2,3}/, 2);
  const [from, to] = await Promise.all([base, head].map((name) => resolve(objects, folder, repository, name)));
  if (from === undefined || to === undefined) throw unknown();
  const commits = await readLog(git, folder, { from: [to.commit], not: [from.commit], limit: 250 });
  const total = await countLog(git, folder, { from: [to.commit], not: [from.commit] });
  return ok({ total_commits: total, commits: await list(call, repository, commits) });
}

/** Commits as the peer lists them, with what they changed as far as it is asked for. */
export function commitList({
  git,
  keeper,
  owners,
  repositories,
}: Pick<RestParts, 'git' | 'keeper' | 'owners' | 'repositories'>) {
  /** The accounts behind the email addresses of commits. */
  const people = async (call: Call, commits: readonly Commit[]) => {
    const accounts = await owners.accountsOfEmails(
      commits.flatMap(({ author, committer }) => [author.email, committer.email]),
    );
    const names = new Set(accounts.values());
    const shown = new Map<string, unknown>();
    for (const name of names) {
      const row = await repositories.owner(name);
      if (row !== undefined) shown.set(name, userOf(row, call.base));
    }
    return ({ email }: Signature): unknown => shown.get(accounts.get(email) ?? '') ?? null;
  };
  return async (call: Call, repository: Repository, commits: readonly Commit[]) => {
    const stat = flag(call.query, 'stat') ?? true;
    const files = flag(call.query, 'files') ?? true;
    const ids = stat || files ? commits.map(({ id }) => id) : [];
    const changes = await readChanges(git, keeper.folder(repository), ids).catch(noneOfTooMany);
    const person = await people(call, commits);
    return commits.map((commit) =>
      commitJson(commit, placeOf(call, repository), { changes: changes?.get(commit.id), stat, files, person }),
    );
  };
}
