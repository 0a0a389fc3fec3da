import * as m from '#messages/git-problems';
import { implement, type ApiHandler, type ApiRequest } from '../../contracts/api.ts';
import {
  gitApi,
  type GitChecks,
  type GitCommit,
  type GitContent,
  type GitKey,
  type GitRepository,
} from '../../contracts/git/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { PageProblem } from '../domain/page-problem.ts';
import { decodeText } from '../../kit/text-encoding.ts';
import { readLargeText } from '../lfs/large-text.ts';
import { maxPointerBytes, parsePointer } from '../lfs/pointer.ts';
import { parseCommitDate } from '../domain/commit-time.ts';
import { validateRepositoryName, normalizeTreePath } from '../domain/names.ts';
import { readBlame } from '../repositories/blame.ts';
import { readCommit, readLog, type Commit } from '../repositories/commits.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { ObjectInfo } from '../repositories/objects.ts';
import { readReferences } from '../repositories/references.ts';
import { resolveRevision } from '../repositories/revisions.ts';
import type { Repository } from '../repositories/repositories.ts';
import { readTree, type TreeEntry } from '../repositories/trees.ts';
import { anonymousCaller, type Caller } from '../sign-in/caller.ts';
import { combineStates } from '../statuses/statuses.ts';
import type { StatusRow } from '../store/statuses.ts';
import type { PublicKeyRow } from '../store/tables.ts';
import { readDiffs } from './diffs.ts';
import { getSshBase } from '../ssh/base-url.ts';
import type { RouteDependencies } from '../components.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';

type Dependencies = Pick<
  RouteDependencies,
  'context' | 'settings' | 'storage' | 'accessControl' | 'collaboration' | 'features'
>;

const perPage = 50;
const maxListed = 200;
/** Maximum size of a displayed text, bytes. */
const maxTextBytes = 512 * 1024;
const maxReadmeBytes = 100 * 1024;
const kinds = { '040000': 'folder', '160000': 'module', '120000': 'link' } as const;
const ok = { ok: true } as const;

type AppCall = Pick<ApiRequest<unknown, unknown>, 'identity' | 'params'>;

/** A path in a commit of a repository. */
interface Location {
  readonly repository: Repository;
  /** Folder of the repository on disk. */
  readonly folder: string;
  readonly commit: string;
  readonly path: string;
}

/** Builds the routes of repositories, files, commits and keys for the pages. */
export function repositoryApiRoutes(deps: Dependencies): readonly ApiHandler[] {
  return [
    ...repositoryListRoutes(deps),
    ...repositoryRoutes(deps),
    ...contentRoutes(deps),
    ...commitRoutes(deps),
    ...keyRoutes(deps),
  ];
}

function repositoryListRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { settings } = deps;
  const { access } = deps.accessControl;
  const { manager, repositories } = deps.storage;
  return [
    implement(gitApi.list, async ({ identity, query }) => {
      const visibility =
        identity === undefined ? ('all' as const) : await access.getVisibility({ ...anonymousCaller, identity });
      const result = await repositories.list({
        visibility,
        searchText: query.q,
        inDescription: true,
        ...(query.owner === '' ? {} : { owner: query.owner }),
        ...(query.sort === 'name' ? { sort: 'alpha' as const } : { sort: 'updated' as const, descending: true }),
        limit: maxListed,
        offset: 0,
      });
      return { repositories: result.repositories.map(toSummary), total: result.total };
    }),
    implement(gitApi.create, async ({ body, ...call }) => {
      const problem = validateRepositoryName(body.name);
      if (problem !== undefined) {
        throw new Problem('git.invalid', 422, m.repositoryNameInvalid(), {
          fields: { name: m.repositoryNameInvalid() },
        });
      }
      const { account } = requireIdentity(call);
      const created = await manager.create({ ...body, owner: account, defaultBranch: settings.defaultBranch });
      return toSummary(created);
    }),
  ];
}

function repositoryRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { context, settings } = deps;
  const { access, lookup } = deps.accessControl;
  const { git, manager, objects } = deps.storage;
  return [
    implement(gitApi.one, async (call) => {
      const caller = toCaller(call);
      const { owner = '', name = '' } = call.params;
      const repository =
        (await lookup.find(caller, owner, name))?.repository ?? (await lookup.findRenamed(caller, owner, name));
      if (repository === undefined) throw buildNotFoundProblem();
      const folder = manager.getFolder(repository);
      const level = await access.getLevel(caller, repository);
      const references = await readReferences(git, folder, 'refs/');
      const listNames = (prefix: string) =>
        references.flatMap(({ ref }) => (ref.startsWith(prefix) ? [ref.slice(prefix.length)] : []));
      const base = settings.publicUrl === '' ? (context.address('git') ?? '') : settings.publicUrl.replace(/\/+$/, '');
      const full = `${repository.owner}/${repository.name}.git`;
      return {
        ...toSummary(repository),
        branches: listNames('refs/heads/'),
        tags: listNames('refs/tags/').toReversed(),
        level: level === 'none' ? ('read' as const) : level,
        cloneHttp: `${base}/${full}`,
        cloneSsh: context.address('git', 'ssh') === undefined ? null : `${getSshBase(context, settings, base)}/${full}`,
      };
    }),
    implement(gitApi.remove, async (call) => {
      const { repository, caller, folder } = await findRepository(deps, call, 'admin');
      const owner = await deps.storage.owners.getById(repository.ownerId);
      if (!(await access.administersOwner(caller, owner))) {
        throw new PageProblem('git.forbidden', 403, m.removalNeedsOwner());
      }
      await objects.close(folder);
      await manager.remove(repository);
      return ok;
    }),
  ];
}

function contentRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { git, objects } = deps.storage;
  return [
    implement(gitApi.content, async (call): Promise<GitContent> => {
      const location = await getLocation(deps, call);
      const { folder, path, commit } = location;
      const info = await objects.info(folder, path === '' ? `${commit}^{tree}` : `${commit}:${path}`);
      if (info?.type === 'blob') return readFileContent(deps, location, info);
      const entries = info?.type === 'tree' ? await readTree(objects, folder, info.id) : undefined;
      if (entries === undefined) throw buildNotFoundProblem();
      return readFolderContent(deps, location, entries);
    }),
    implement(gitApi.blame, async (call) => {
      const { folder, path, commit } = await getLocation(deps, call);
      const info = path === '' ? undefined : await objects.info(folder, `${commit}:${path}`);
      const last = await readCommit(git, folder, commit);
      if (info?.type !== 'blob' || last === undefined) throw buildNotFoundProblem();
      if (info.size > maxTextBytes) throw new Problem('git.too_much', 413, m.fileTooLargeToShow());
      const result = await readBlame(git, folder, commit, path);
      return { commit: commitView(last), parts: result.map((part) => ({ ...part, lines: [...part.lines] })) };
    }),
  ];
}

/** Reads a file with its last commit. */
async function readFileContent(
  deps: Dependencies,
  { folder, path, commit, repository }: Location,
  { id, size }: ObjectInfo,
): Promise<GitContent> {
  const { git } = deps.storage;
  const { lastCommits, lfs } = deps.features;
  const last = (await lastCommits.find(folder, commit, path)) ?? (await readCommit(git, folder, commit));
  if (last === undefined) throw buildNotFoundProblem();
  const stored = await readText(deps.storage, folder, id, maxTextBytes);
  const pointer = size > maxPointerBytes ? undefined : await readLfsPointer(deps.storage, folder, id);
  const text = pointer === undefined ? stored?.text : await readLargeText(lfs, repository, pointer, maxTextBytes);
  return {
    kind: 'file',
    revision: commit,
    commit: commitView(last),
    id,
    size: pointer?.size ?? size,
    text: text ?? null,
    editable: stored?.exact ?? false,
    lfs: pointer !== undefined,
  };
}

/** Reads a folder: its entries with their last commits, and its README. */
async function readFolderContent(
  deps: Dependencies,
  { folder, path, commit }: Location,
  entries: readonly TreeEntry[],
): Promise<GitContent> {
  const { git } = deps.storage;
  const { lastCommits } = deps.features;
  const [newest] = await readLog(git, folder, { from: [commit], path, limit: 1 });
  if (newest === undefined) throw buildNotFoundProblem();
  const last = await lastCommits.findForEntries(
    folder,
    commit,
    path,
    entries.map(({ name }) => name),
  );
  const readme = entries.find(({ name, type }) => type === 'blob' && /^readme(\.(md|markdown|txt))?$/i.test(name));
  const text = (readme && (await readText(deps.storage, folder, readme.id, maxReadmeBytes)))?.text ?? null;
  return {
    kind: 'folder',
    revision: commit,
    commit: commitView(newest),
    entries: entries
      .map(({ name, mode }) => {
        const changed = last.get(path === '' ? name : `${path}/${name}`);
        return {
          name,
          kind: kinds[mode as keyof typeof kinds] ?? ('file' as const),
          last: changed === undefined ? null : commitView(changed),
        };
      })
      // Folders precede files.
      .toSorted((one, other) => Number(other.kind === 'folder') - Number(one.kind === 'folder')),
    readme: readme === undefined || text === null ? null : { name: readme.name, text },
  };
}

function commitRoutes(deps: Dependencies): readonly ApiHandler[] {
  const { git, objects } = deps.storage;
  const { statuses } = deps.collaboration;
  return [
    implement(gitApi.commits, async (call) => {
      const { folder, path, commit, repository } = await getLocation(deps, call);
      const query = { from: [commit], path, offset: call.query.offset, limit: perPage + 1 };
      const commits = await readLog(git, folder, query);
      const page = commits.slice(0, perPage);
      const checks = await statuses.latestForCommits(
        repository.id,
        page.map(({ id }) => id),
      );
      return {
        commits: page.map((one) => ({ ...commitView(one), checks: checksView(checks.get(one.id)) })),
        more: commits.length > perPage,
      };
    }),
    implement(gitApi.commit, async (call) => {
      const { repository, folder } = await findRepository(deps, call);
      const revision = await resolveRevision(objects, folder, repository, call.params['commit']);
      const commit = revision && (await readCommit(git, folder, revision.commit));
      if (commit === undefined) throw buildNotFoundProblem();
      const options = { hidesWhitespace: call.query.whitespace === 'hide' };
      return { commit: commitView(commit), ...(await readDiffs(git, folder, commit.id, options)) };
    }),
  ];
}

function keyRoutes({ accessControl: { keys } }: Dependencies): readonly ApiHandler[] {
  return [
    implement(gitApi.keys, async (call) => ({
      keys: (await keys.listForAccount(requireIdentity(call).account)).map(keyView),
    })),
    implement(gitApi.addKey, async ({ body, ...call }) => {
      try {
        return keyView(await keys.add({ account: requireIdentity(call).account }, body.title, body.key));
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        const detail = error.code === 'git.key_taken' ? m.keyTaken() : m.keyInvalid();
        throw new Problem(error.code, 422, detail, { fields: { key: detail }, cause: error });
      }
    }),
    implement(gitApi.removeKey, async (call) => {
      const id = Number(call.params['id']);
      const removed = Number.isSafeInteger(id) && (await keys.remove({ account: requireIdentity(call).account }, id));
      if (!removed) throw new Problem('git.unknown_key', 404, m.keyNotFound());
      return ok;
    }),
  ];
}

async function findRepository(
  { storage: { manager }, accessControl: { lookup } }: Dependencies,
  call: AppCall,
  needed: 'read' | 'write' | 'admin' = 'read',
) {
  const { owner = '', name = '' } = call.params;
  const caller = toCaller(call);
  const repository = await lookup.require(caller, [owner, name], needed);
  return { repository, caller, folder: manager.getFolder(repository) };
}

async function getLocation(
  deps: Dependencies,
  call: AppCall & { readonly query: { readonly ref: string; readonly path: string } },
): Promise<Location> {
  const { objects } = deps.storage;

  const { repository, folder } = await findRepository(deps, call);
  const path = normalizeTreePath(call.query.path);
  const revision = await resolveRevision(objects, folder, repository, call.query.ref);
  if (path === undefined || revision === undefined) throw buildNotFoundProblem();
  return { folder, path, commit: revision.commit, repository };
}

function requireIdentity({ identity }: Pick<AppCall, 'identity'>) {
  if (identity === undefined) throw new Problem('git.sign_in', 401, m.signInFirst());
  return identity;
}

function toCaller(call: AppCall): Caller {
  return { ...anonymousCaller, identity: requireIdentity(call) };
}

/** Reads a text file; `exact` is true when the text can be converted back to the same bytes. */
async function readText(
  { objects }: Pick<RepositoryStorage, 'objects'>,
  folder: string,
  id: string,
  maxBytes: number,
): Promise<{ readonly text: string; readonly exact: boolean } | undefined> {
  const info = await objects.info(folder, id);
  if (info === undefined || info.size > maxBytes) return undefined;
  const bytes = (await objects.contents(folder, id))?.bytes;
  const decoded = bytes === undefined || parsePointer(bytes) !== undefined ? undefined : decodeText(bytes);
  return decoded && { text: decoded.text, exact: decoded.exact && bytes?.includes(0) === false };
}

/** Returns the LFS pointer in a file; undefined for other files. */
async function readLfsPointer({ objects }: Pick<RepositoryStorage, 'objects'>, folder: string, id: string) {
  const bytes = (await objects.contents(folder, id))?.bytes;
  return bytes === undefined ? undefined : parsePointer(bytes);
}

/** Converts a repository to the form of the lists. */
export function toSummary(repository: Repository): GitRepository {
  const { id, owner, name, description, archived, empty, defaultBranch, size, updatedAt, counts } = repository;
  return {
    id,
    owner,
    name,
    description,
    private: repository.private,
    archived,
    empty,
    defaultBranch,
    size,
    updatedAt,
    openIssues: counts.issues,
    openPulls: counts.pulls,
  };
}

/** Converts a commit to the form of the pages. */
export function commitView({ id, message, author, committer, parents }: Commit): GitCommit {
  const [title = '', ...rest] = message.trim().split('\n');
  return {
    id,
    title,
    body: rest.join('\n').trim(),
    author: author.name,
    email: author.email,
    time: parseCommitDate(committer.date),
    parents: [...parents],
  };
}

function checksView(rows: readonly StatusRow[] = []): GitChecks | null {
  const state = combineStates(rows);
  if (state === undefined) return null;
  return { state, passed: rows.filter((row) => row.state === 'success').length, total: rows.length };
}

function keyView({ id, title, fingerprint, created_at, last_used_at }: PublicKeyRow): GitKey {
  return { id, title, fingerprint, createdAt: created_at, lastUsedAt: last_used_at };
}
