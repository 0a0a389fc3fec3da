import { Problem } from '../../contracts/problem.ts';
import { isObjectId, normalizeTreePath } from '../domain/names.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { Objects } from '../repositories/objects.ts';
import type { Repository } from '../repositories/repositories.ts';
import { resolveRevision, type Revision } from '../repositories/revisions.ts';
import { readSubmodules } from '../repositories/submodules.ts';
import { readTree, type TreeEntry } from '../repositories/trees.ts';
import { contentJson } from '../wire/contents.ts';
import { archive } from './archives.ts';
import { ok, route, type Answer, type Call, type Route } from './call.ts';
import { parseId } from './paging.ts';
import { getRepositoryName, getRepositoryAddress } from './repository-requests.ts';
import { fileInTree, largeFile, rawFile } from './file-answers.ts';
import type { RouteDependencies } from '../components.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';

type Dependencies = Pick<RouteDependencies, 'storage' | 'accessControl' | 'features'>;

/** Builds the routes of files and folders at a commit, as JSON and raw. */
export function contentRoutes(deps: Dependencies): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/contents', 'repository', (call) => readContents(deps, call)),
    route('GET', '/repos/:owner/:repo/contents/*path', 'repository', (call) => readContents(deps, call)),
    ...['raw', 'media'].map((kind): Route =>
      route('GET', `/repos/:owner/:repo/${kind}/*path`, 'repository', async (call) => {
        const { repository } = await findRepository(deps, call);
        const answer = await fileAnswer(deps, repository, call, kind === 'media');
        return { ...answer, headers: { ...answer.headers, 'X-Gitea-Object-Type': 'file' } };
      }),
    ),
    route('GET', '/repos/:owner/:repo/archive/*archive', 'repository', async (call) =>
      archive(deps.storage, call.base, (await findRepository(deps, call)).repository, call.params['archive'] ?? ''),
    ),
    route('GET', '/repos/:owner/:repo/git/trees/:sha', 'repository', (call) => readTreeObject(deps, call)),
    route('GET', '/repos/:owner/:repo/git/blobs/:sha', 'repository', (call) => readBlobObject(deps, call)),
  ];
}

async function findRepository({ storage: { manager }, accessControl: { lookup } }: Dependencies, call: Call) {
  const repository = await lookup.require(call.caller, getRepositoryName(call), 'read');
  return { repository, folder: manager.getFolder(repository) };
}

async function readContents(deps: Dependencies, call: Call): Promise<Answer> {
  const { objects } = deps.storage;
  const { repository, folder } = await findRepository(deps, call);
  const input = call.params['path'] ?? '';
  const path = normalizeTreePath(input);
  const revision = await resolveRevision(objects, folder, repository, call.query.get('ref'));
  if (revision === undefined && repository.empty && path === '') return ok([]);
  const json =
    path === undefined || revision === undefined ? undefined : await describe(deps, call, repository, revision, path);
  if (json === undefined) throw new Problem('git.unknown', 404, `object does not exist [id: , rel_path: ${input}]`);
  return ok(json);
}

async function readTreeObject(deps: Dependencies, call: Call): Promise<Answer> {
  const { objects } = deps.storage;
  const { repository, folder } = await findRepository(deps, call);
  const sha = call.params['sha'] ?? '';
  const name = isObjectId(sha) ? sha : (await resolveRevision(objects, folder, repository, sha))?.commit;
  const tree = name === undefined ? undefined : await objects.info(folder, name);
  if (tree === undefined || tree.type === 'blob') throw buildNotFoundProblem();
  const json = await treeJson(deps.storage, call, repository, tree.id);
  return ok(json, { 'X-Total-Count': json.total_count, 'Access-Control-Expose-Headers': 'X-Total-Count' });
}

async function readBlobObject(deps: Dependencies, call: Call): Promise<Answer> {
  const { objects } = deps.storage;
  const { repository, folder } = await findRepository(deps, call);
  const sha = call.params['sha'] ?? '';
  const blob = isObjectId(sha) ? await objects.contents(folder, sha) : undefined;
  if (blob?.type !== 'blob') throw buildNotFoundProblem();
  const { base, full } = getRepositoryAddress(call, repository);
  return ok({
    content: blob.bytes.toString('base64'),
    encoding: 'base64',
    url: `${base}/api/v1/repos/${full}/git/blobs/${sha}`,
    sha,
    size: blob.size,
  });
}

/**
 * Returns a raw file. The path is the file at `?ref=` or, as Gitea prefers, `{ref}/{path}`; a file with the full path on the
 * branch takes precedence.
 */
async function fileAnswer(deps: Dependencies, repository: Repository, call: Call, isMedia: boolean): Promise<Answer> {
  const { manager, objects } = deps.storage;
  const input = call.params['path'] ?? '';
  const folder = manager.getFolder(repository);
  const ref = call.query.get('ref') ?? '';
  const existing = call.request.headers['if-none-match'];
  const revision = await resolveRevision(objects, folder, repository, ref);
  const path = normalizeTreePath(input);
  const info =
    revision === undefined || path === undefined ? undefined : await objects.info(folder, `${revision.commit}:${path}`);
  if (ref === '' && info?.type !== 'blob' && input.includes('/')) {
    const rest = { kind: undefined, rest: input.split('/'), isMedia, etag: existing };
    return fileInTree(deps, repository, rest);
  }
  const large = isMedia ? await largeFile(deps, repository, revision, input) : undefined;
  return large ?? rawFile(deps, repository, revision, input, existing);
}

/** Describes a file with its content or the entries of a folder; undefined when the path does not exist. */
export async function describe(
  { storage: { git, manager, objects }, features: { lastCommits } }: Pick<RouteDependencies, 'storage' | 'features'>,
  call: Pick<Call, 'base'>,
  repository: Repository,
  revision: Revision,
  path: string,
): Promise<unknown> {
  const folder = manager.getFolder(repository);
  const address = getRepositoryAddress(call, repository);
  const submodules = () => readSubmodules(git, folder, revision.commit, `${address.base}/${address.full}.git`);
  if (path !== '') {
    const parent = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
    const entries = (await readTree(objects, folder, `${revision.commit}:${parent}`)) ?? [];
    const entry = entries.find(({ name }) => name === path.slice(parent === '' ? 0 : parent.length + 1));
    if (entry === undefined) return undefined;
    if (entry.type !== 'tree') {
      const blob = entry.type === 'blob' ? await objects.contents(folder, entry.id) : undefined;
      const last = await lastCommits.find(folder, revision.commit, path);
      const submodule = entry.type === 'commit' ? (await submodules()).get(path) : undefined;
      const { id, mode } = entry;
      return contentJson({ path, mode, id, size: blob?.size ?? 0, last, submodule }, revision, address, blob?.bytes);
    }
  }
  const entries = await readTree(objects, folder, `${revision.commit}:${path}`);
  if (entries === undefined) return undefined;
  const last = await lastCommits.findForEntries(
    folder,
    revision.commit,
    path,
    entries.map(({ name }) => name),
  );
  const urls = entries.some(({ type }) => type === 'commit') ? await submodules() : undefined;
  return Promise.all(
    entries.map(async (entry) => {
      const full = path === '' ? entry.name : `${path}/${entry.name}`;
      const size = await getEntrySize(objects, folder, entry);
      const submodule = urls?.get(full);
      const { id, mode } = entry;
      return contentJson({ path: full, mode, id, size, last: last.get(full), submodule }, revision, address);
    }),
  );
}

async function treeJson(
  { objects, git, manager }: Pick<RepositoryStorage, 'objects' | 'git' | 'manager'>,
  call: Call,
  repository: Repository,
  id: string,
) {
  const { base, full } = getRepositoryAddress(call, repository);
  const folder = manager.getFolder(repository);
  const recursive = call.query.get('recursive');
  const deep = recursive === 'true' || recursive === '1';
  const perPage = Math.min(1000, Number(call.query.get('per_page') ?? '') || 1000);
  const page = call.query.has('page') ? parseId(call.query.get('page') ?? '') : 1;
  const args = ['ls-tree', '-z', ...(deep ? ['-r', '-t'] : []), id];
  const lines = (await git.run(folder, args)).stdout
    .toString()
    .split('\0')
    .filter((line) => line !== '');
  const api = `${base}/api/v1/repos/${full}/git`;
  const tree = await Promise.all(
    lines.slice((page - 1) * perPage, page * perPage).map(async (line) => {
      const [, mode = '', type = '', sha = '', path = ''] = /^(\d+) (\w+) (\w+)\t(.*)$/s.exec(line) ?? [];
      const url = type === 'commit' ? '' : `${api}/${type}s/${sha}`;
      // Only the entries of this page are looked up.
      const size = type === 'blob' ? ((await objects.info(folder, sha))?.size ?? 0) : 0;
      return { path, mode, type, size, sha, url };
    }),
  );
  const info = await objects.info(folder, `${id}^{tree}`);
  const sha = info?.id === id ? id : call.params['sha'];
  return {
    sha,
    url: `${api}/trees/${sha}`,
    tree,
    truncated: page * perPage < lines.length,
    page,
    total_count: lines.length,
  };
}

async function getEntrySize(objects: Objects, folder: string, { type, id }: TreeEntry): Promise<number> {
  return type === 'blob' ? ((await objects.info(folder, id))?.size ?? 0) : 0;
}
