import { pipeline } from 'node:stream/promises';
import { Problem } from '../../contracts/problem.ts';
import { isObjectId, treePath } from '../domain/names.ts';
import type { LfsStore } from '../lfs/lfs-store.ts';
import { largestPointer, readPointer } from '../lfs/pointer.ts';
import type { LastCommits } from '../repositories/last-commits.ts';
import { unknown } from '../repositories/lookup.ts';
import type { Objects } from '../repositories/objects.ts';
import type { Repository } from '../repositories/repositories.ts';
import { resolve, resolveAs, type Revision } from '../repositories/revisions.ts';
import { readSubmodules } from '../repositories/submodules.ts';
import { readTree, type TreeEntry } from '../repositories/trees.ts';
import { contentJson } from '../wire/contents.ts';
import { gitTime } from '../wire/time.ts';
import { pour } from '../transfer/flow.ts';
import { archive } from './archives.ts';
import { fileName } from './content-disposition.ts';
import { ok, route, type Answer, type Call, type Route } from './call.ts';
import { numberOf } from './paging.ts';
import { named, placeOf, type RestParts } from './api-dependencies.ts';

/** Larger files are not held as a whole, bytes. */
const largestHeld = 16 * 1024 * 1024;

export interface ContentParts extends RestParts {
  readonly lastCommits: LastCommits;
  readonly lfs: LfsStore;
}

/** Files and folders at a commit, as JSON and as they are. */
export function contentRoutes(parts: ContentParts): readonly Route[] {
  return [
    route('GET', '/repos/:owner/:repo/contents', 'repository', (call) => readContents(parts, call)),
    route('GET', '/repos/:owner/:repo/contents/*path', 'repository', (call) => readContents(parts, call)),
    ...['raw', 'media'].map((kind): Route =>
      route('GET', `/repos/:owner/:repo/${kind}/*path`, 'repository', async (call) => {
        const { repository } = await findRepository(parts, call);
        const answer = await fileAnswer(parts, repository, call, kind === 'media');
        return { ...answer, headers: { ...answer.headers, 'X-Gitea-Object-Type': 'file' } };
      }),
    ),
    route('GET', '/repos/:owner/:repo/archive/*archive', 'repository', async (call) =>
      archive(parts, call.base, (await findRepository(parts, call)).repository, call.params['archive'] ?? ''),
    ),
    route('GET', '/repos/:owner/:repo/git/trees/:sha', 'repository', (call) => readTreeObject(parts, call)),
    route('GET', '/repos/:owner/:repo/git/blobs/:sha', 'repository', (call) => readBlobObject(parts, call)),
  ];
}

async function findRepository({ keeper, lookup }: ContentParts, call: Call) {
  const repository = await lookup.need(call.visitor, named(call), 'read');
  return { repository, folder: keeper.folder(repository) };
}

async function readContents(parts: ContentParts, call: Call): Promise<Answer> {
  const { objects } = parts;
  const { repository, folder } = await findRepository(parts, call);
  const asked = call.params['path'] ?? '';
  const path = treePath(asked);
  const revision = await resolve(objects, folder, repository, call.query.get('ref'));
  if (revision === undefined && repository.empty && path === '') return ok([]);
  const json =
    path === undefined || revision === undefined ? undefined : await describe(parts, call, repository, revision, path);
  if (json === undefined) throw new Problem('git.unknown', 404, `object does not exist [id: , rel_path: ${asked}]`);
  return ok(json);
}

async function readTreeObject(parts: ContentParts, call: Call): Promise<Answer> {
  const { objects } = parts;
  const { repository, folder } = await findRepository(parts, call);
  const sha = call.params['sha'] ?? '';
  const name = isObjectId(sha) ? sha : (await resolve(objects, folder, repository, sha))?.commit;
  const tree = name === undefined ? undefined : await objects.info(folder, name);
  if (tree === undefined || tree.type === 'blob') throw unknown();
  const json = await treeJson(parts, call, repository, tree.id);
  return ok(json, { 'X-Total-Count': json.total_count, 'Access-Control-Expose-Headers': 'X-Total-Count' });
}

async function readBlobObject(parts: ContentParts, call: Call): Promise<Answer> {
  const { objects } = parts;
  const { repository, folder } = await findRepository(parts, call);
  const sha = call.params['sha'] ?? '';
  const blob = isObjectId(sha) ? await objects.contents(folder, sha) : undefined;
  if (blob?.type !== 'blob') throw unknown();
  const { base, full } = placeOf(call, repository);
  return ok({
    content: blob.bytes.toString('base64'),
    encoding: 'base64',
    url: `${base}/api/v1/repos/${full}/git/blobs/${sha}`,
    sha,
    size: blob.size,
  });
}

/**
 * A file as it is. The path is that of the file at `?ref=`, or, as the peer prefers it, `{ref}/{path}`; a file of that path on
 * the branch comes first.
 */
async function fileAnswer(parts: ContentParts, repository: Repository, call: Call, isMedia: boolean): Promise<Answer> {
  const { keeper, objects } = parts;
  const asked = call.params['path'] ?? '';
  const folder = keeper.folder(repository);
  const ref = call.query.get('ref') ?? '';
  const known = call.request.headers['if-none-match'];
  const revision = await resolve(objects, folder, repository, ref);
  const path = treePath(asked);
  const info =
    revision === undefined || path === undefined ? undefined : await objects.info(folder, `${revision.commit}:${path}`);
  if (ref === '' && info?.type !== 'blob' && asked.includes('/')) {
    const rest = { kind: undefined, rest: asked.split('/'), isMedia, known };
    return fileInTree(parts, repository, rest);
  }
  const large = isMedia ? await largeFile(parts, repository, revision, asked) : undefined;
  return large ?? rawFile(parts, repository, revision, asked, known);
}

/** A file with its content, or the entries of a folder; undefined where there is none. */
export async function describe(
  { git, keeper, lastCommits, objects }: Pick<ContentParts, 'git' | 'keeper' | 'lastCommits' | 'objects'>,
  call: Pick<Call, 'base'>,
  repository: Repository,
  revision: Revision,
  path: string,
): Promise<unknown> {
  const folder = keeper.folder(repository);
  const place = placeOf(call, repository);
  const submodules = () => readSubmodules(git, folder, revision.commit, `${place.base}/${place.full}.git`);
  if (path !== '') {
    const parent = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
    const entries = (await readTree(objects, folder, `${revision.commit}:${parent}`)) ?? [];
    const entry = entries.find(({ name }) => name === path.slice(parent === '' ? 0 : parent.length + 1));
    if (entry === undefined) return undefined;
    if (entry.type !== 'tree') {
      const blob = entry.type === 'blob' ? await objects.contents(folder, entry.id) : undefined;
      const last = await lastCommits.of(folder, revision.commit, path);
      const submodule = entry.type === 'commit' ? (await submodules()).get(path) : undefined;
      const { id, mode } = entry;
      return contentJson({ path, mode, id, size: blob?.size ?? 0, last, submodule }, revision, place, blob?.bytes);
    }
  }
  const entries = await readTree(objects, folder, `${revision.commit}:${path}`);
  if (entries === undefined) return undefined;
  const last = await lastCommits.ofEntries(
    folder,
    revision.commit,
    path,
    entries.map(({ name }) => name),
  );
  const urls = entries.some(({ type }) => type === 'commit') ? await submodules() : undefined;
  return Promise.all(
    entries.map(async (entry) => {
      const full = path === '' ? entry.name : `${path}/${entry.name}`;
      const size = await sizeOf(objects, folder, entry);
      const submodule = urls?.get(full);
      const { id, mode } = entry;
      return contentJson({ path: full, mode, id, size, last: last.get(full), submodule }, revision, place);
    }),
  );
}

/** A file at a branch, a tag or a commit. A branch may have slashes in its name, so that each part is tried as its end. */
export async function fileInTree(
  parts: ContentParts,
  repository: Repository,
  { kind, rest, isMedia, known }: FileAddress,
): Promise<Answer> {
  const folder = parts.keeper.folder(repository);
  for (let parted = 1; parted < rest.length; parted += 1) {
    const name = rest.slice(0, parted).join('/');
    const there =
      kind === 'branch' || kind === 'tag' || kind === 'commit'
        ? await resolveAs(kind, parts.objects, folder, name)
        : await resolve(parts.objects, folder, repository, name);
    if (there === undefined) continue;
    const path = rest.slice(parted).join('/');
    const large = isMedia ? await largeFile(parts, repository, there, path) : undefined;
    if (large !== undefined) return large;
    const info = await parts.objects.info(folder, `${there.commit}:${treePath(path) ?? ''}`);
    // Another branch may have a longer name.
    if (info?.type === 'blob') return rawFile(parts, repository, there, path, known);
  }
  throw unknown();
}

interface FileAddress {
  /** `branch`, `tag` or `commit`; undefined where any of them is meant. */
  readonly kind: string | undefined;
  /** What names the commit, and the path behind it. */
  readonly rest: readonly string[];
  readonly isMedia: boolean;
  readonly known: string | undefined;
}

/** The large file that a pointer at this path stands for; undefined where there is none. */
export async function largeFile(
  { keeper, lfs, objects }: Pick<ContentParts, 'keeper' | 'lfs' | 'objects'>,
  repository: Repository,
  revision: Revision | undefined,
  asked: string,
): Promise<Answer | undefined> {
  const folder = keeper.folder(repository);
  const path = treePath(asked);
  const info =
    path === undefined || revision === undefined ? undefined : await objects.info(folder, `${revision.commit}:${path}`);
  if (path === undefined || info?.type !== 'blob' || info.size > largestPointer) return undefined;
  const bytes = (await objects.contents(folder, info.id))?.bytes;
  const pointer = bytes === undefined ? undefined : readPointer(bytes);
  if (pointer === undefined || (await lfs.sizes(repository, [pointer.oid])).get(pointer.oid) === undefined)
    return undefined;
  const headers = {
    'Content-Type': 'application/octet-stream',
    'Content-Length': pointer.size,
    'Content-Disposition': `attachment; ${fileName(path.slice(path.lastIndexOf('/') + 1))}`,
    'X-Content-Type-Options': 'nosniff',
    ETag: `"${pointer.oid}"`,
  };
  return { status: 200, headers, send: (response) => pipeline(lfs.read(repository, pointer.oid), response) };
}

/** A file as it is, never in a form that a browser would run. @throws Problem (404) */
export async function rawFile(
  { git, keeper, lastCommits, objects }: Pick<ContentParts, 'git' | 'keeper' | 'lastCommits' | 'objects'>,
  repository: Repository,
  revision: Revision | undefined,
  asked: string,
  known: string | undefined,
): Promise<Answer> {
  const folder = keeper.folder(repository);
  const path = treePath(asked);
  const info =
    path === undefined || revision === undefined ? undefined : await objects.info(folder, `${revision.commit}:${path}`);
  if (path === undefined || revision === undefined || info?.type !== 'blob') {
    throw new Problem('git.unknown', 404, `object does not exist [id: , rel_path: ${asked}]`);
  }
  const tag = `"${info.id}"`;
  const last = await lastCommits.of(folder, revision.commit, path);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const headers = {
    ETag: tag,
    'Cache-Control': `${repository.private || repository.ownerVisibility !== 'public' ? 'private' : 'public'}, max-age=21600`,
    ...(last === undefined ? {} : { 'Last-Modified': new Date(gitTime(last.committer.date)).toUTCString() }),
    'Access-Control-Expose-Headers': 'Content-Disposition',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  };
  if (known === tag) return { status: 304, headers };
  if (info.size > largestHeld) {
    const large = {
      'Content-Type': 'application/octet-stream',
      'Content-Length': info.size,
      'Content-Disposition': `attachment; ${fileName(name)}`,
    };
    return {
      status: 200,
      headers: { ...headers, ...large },
      send: async (response) => pour(await git.start(folder, ['cat-file', 'blob', info.id]), response),
    };
  }
  const bytes = (await objects.contents(folder, info.id))?.bytes ?? Buffer.alloc(0);
  const type = typeOf(bytes);
  return {
    status: 200,
    headers: {
      ...headers,
      'Content-Type': type,
      'Content-Length': bytes.length,
      'Content-Disposition': `${type === 'application/octet-stream' ? 'attachment' : 'inline'}; ${fileName(name)}`,
    },
    send: (response) => Promise.resolve(void response.end(bytes)),
  };
}

async function treeJson(
  { objects, git, keeper }: Pick<RestParts, 'objects' | 'git' | 'keeper'>,
  call: Call,
  repository: Repository,
  id: string,
) {
  const { base, full } = placeOf(call, repository);
  const folder = keeper.folder(repository);
  const recursive = call.query.get('recursive');
  const deep = recursive === 'true' || recursive === '1';
  const perPage = Math.min(1000, Number(call.query.get('per_page') ?? '') || 1000);
  const page = call.query.has('page') ? numberOf(call.query.get('page') ?? '') : 1;
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
      // Of those that are shown alone.
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

async function sizeOf(objects: Objects, folder: string, { type, id }: TreeEntry): Promise<number> {
  return type === 'blob' ? ((await objects.info(folder, id))?.size ?? 0) : 0;
}

const pictures: readonly (readonly [string, string])[] = [
  ['image/png', '89504e47'],
  ['image/jpeg', 'ffd8ff'],
  ['image/gif', '47494638'],
];

/** By the bytes themselves: text is plain text whatever its name says, so that no page is made of it. */
function typeOf(bytes: Buffer): string {
  const start = bytes.subarray(0, 8000);
  const hex = start.toString('hex', 0, 4);
  const picture = pictures.find(([, magic]) => hex.startsWith(magic));
  if (picture !== undefined) return picture[0];
  return start.includes(0) ? 'application/octet-stream' : 'text/plain; charset=utf-8';
}
