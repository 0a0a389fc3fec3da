import { pipeline } from 'node:stream/promises';
import { Problem } from '../../contracts/problem.ts';
import { findImageType } from '../../kit/file-type.ts';
import { normalizeTreePath } from '../domain/names.ts';
import { maxPointerBytes, parsePointer } from '../lfs/pointer.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { ObjectInfo } from '../repositories/objects.ts';
import type { Repository } from '../repositories/repositories.ts';
import { resolveRevision, resolveByKind, type Revision } from '../repositories/revisions.ts';
import { gitTime } from '../wire/time.ts';
import { sendOutput } from '../transfer/streams.ts';
import { formatFileName } from './content-disposition.ts';
import type { Answer } from './call.ts';
import type { RouteDependencies } from '../components.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';

type Dependencies = Pick<RouteDependencies, 'storage' | 'features'>;

/** Maximum size of a file that is read into memory, bytes. Larger files are streamed. */
const maxBufferedBytes = 16 * 1024 * 1024;

/** Returns a file at a branch, tag or commit. Branch names can contain slashes, so every split of the path is tried. */
export async function fileInTree(
  deps: Dependencies,
  repository: Repository,
  { kind, rest, isMedia, etag: existing }: FileAddress,
): Promise<Answer> {
  const folder = deps.storage.manager.getFolder(repository);
  for (let segmentCount = 1; segmentCount < rest.length; segmentCount += 1) {
    const name = rest.slice(0, segmentCount).join('/');
    const namedRevision =
      kind === 'branch' || kind === 'tag' || kind === 'commit'
        ? await resolveByKind(kind, deps.storage.objects, folder, name)
        : await resolveRevision(deps.storage.objects, folder, repository, name);
    if (namedRevision === undefined) continue;
    const path = rest.slice(segmentCount).join('/');
    const large = isMedia ? await largeFile(deps, repository, namedRevision, path) : undefined;
    if (large !== undefined) return large;
    const info = await deps.storage.objects.info(folder, `${namedRevision.commit}:${normalizeTreePath(path) ?? ''}`);
    // A branch with a longer name can match further on.
    if (info?.type === 'blob') return rawFile(deps, repository, namedRevision, path, existing);
  }
  throw buildNotFoundProblem();
}

interface FileAddress {
  /** `branch`, `tag` or `commit`; undefined for any of them. */
  readonly kind: string | undefined;
  /** Segments of the revision, followed by those of the path. */
  readonly rest: readonly string[];
  readonly isMedia: boolean;
  readonly etag: string | undefined;
}

/** Returns a file by its object ID, without a name. @throws Problem (404) */
export async function objectFile(
  deps: Dependencies,
  repository: Repository,
  { id, isMedia, etag }: { readonly id: string; readonly isMedia: boolean; readonly etag: string | undefined },
): Promise<Answer> {
  const folder = deps.storage.manager.getFolder(repository);
  const info = await deps.storage.objects.info(folder, id);
  if (info?.type !== 'blob') throw buildNotFoundProblem();
  const large = isMedia ? await largeObject(deps, repository, info, id) : undefined;
  return large ?? blobAnswer(deps.storage, repository, info, { name: id, etag });
}

/** Returns the LFS object that the pointer at a path refers to; undefined when there is none. */
export async function largeFile(
  deps: Pick<RouteDependencies, 'storage' | 'features'>,
  repository: Repository,
  revision: Revision | undefined,
  input: string,
): Promise<Answer | undefined> {
  const path = normalizeTreePath(input);
  if (path === undefined || revision === undefined) return undefined;
  const info = await deps.storage.objects.info(
    deps.storage.manager.getFolder(repository),
    `${revision.commit}:${path}`,
  );
  return info === undefined ? undefined : largeObject(deps, repository, info, path.slice(path.lastIndexOf('/') + 1));
}

async function largeObject(
  { storage: { manager, objects }, features: { lfs } }: Pick<RouteDependencies, 'storage' | 'features'>,
  repository: Repository,
  info: ObjectInfo,
  name: string,
): Promise<Answer | undefined> {
  if (info.type !== 'blob' || info.size > maxPointerBytes) return undefined;
  const bytes = (await objects.contents(manager.getFolder(repository), info.id))?.bytes;
  const pointer = bytes === undefined ? undefined : parsePointer(bytes);
  if (pointer === undefined || (await lfs.sizes(repository, [pointer.oid])).get(pointer.oid) === undefined)
    return undefined;
  const headers = {
    'Content-Type': 'application/octet-stream',
    'Content-Length': pointer.size,
    'Content-Disposition': `attachment; ${formatFileName(name)}`,
    'X-Content-Type-Options': 'nosniff',
    ETag: `"${pointer.oid}"`,
  };
  return {
    status: 200,
    headers,
    send: async (response) => pipeline(await lfs.read(repository, pointer.oid), response),
  };
}

/** Returns a raw file with headers that keep a browser from executing it. @throws Problem (404) */
export async function rawFile(
  deps: Pick<RouteDependencies, 'storage' | 'features'>,
  repository: Repository,
  revision: Revision | undefined,
  input: string,
  existing: string | undefined,
): Promise<Answer> {
  const { manager, objects } = deps.storage;
  const { lastCommits } = deps.features;
  const folder = manager.getFolder(repository);
  const path = normalizeTreePath(input);
  const info =
    path === undefined || revision === undefined ? undefined : await objects.info(folder, `${revision.commit}:${path}`);
  if (path === undefined || revision === undefined || info?.type !== 'blob') {
    throw new Problem('git.unknown', 404, `object does not exist [id: , rel_path: ${input}]`);
  }
  const last = await lastCommits.find(folder, revision.commit, path);
  const name = path.slice(path.lastIndexOf('/') + 1);
  return blobAnswer(deps.storage, repository, info, { name, etag: existing, changedAt: last?.committer.date });
}

interface BlobAnswerOptions {
  readonly name: string;
  /** ETag that the client has. */
  readonly etag: string | undefined;
  readonly changedAt?: string | undefined;
}

async function blobAnswer(
  { git, manager, objects }: Pick<RepositoryStorage, 'git' | 'manager' | 'objects'>,
  repository: Repository,
  info: ObjectInfo,
  { name, etag, changedAt }: BlobAnswerOptions,
): Promise<Answer> {
  const folder = manager.getFolder(repository);
  const tag = `"${info.id}"`;
  const headers = {
    ETag: tag,
    'Cache-Control': `${repository.private || repository.ownerVisibility !== 'public' ? 'private' : 'public'}, max-age=21600`,
    ...(changedAt === undefined ? {} : { 'Last-Modified': new Date(gitTime(changedAt)).toUTCString() }),
    'Access-Control-Expose-Headers': 'Content-Disposition',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  };
  if (etag === tag) return { status: 304, headers };
  if (info.size > maxBufferedBytes) {
    const large = {
      'Content-Type': 'application/octet-stream',
      'Content-Length': info.size,
      'Content-Disposition': `attachment; ${formatFileName(name)}`,
    };
    return {
      status: 200,
      headers: { ...headers, ...large },
      send: async (response) => sendOutput(await git.start(folder, ['cat-file', 'blob', info.id]), response),
    };
  }
  const bytes = (await objects.contents(folder, info.id))?.bytes ?? Buffer.alloc(0);
  const type = await detectType(bytes);
  return {
    status: 200,
    headers: {
      ...headers,
      'Content-Type': type,
      'Content-Length': bytes.length,
      'Content-Disposition': `${type === 'application/octet-stream' ? 'attachment' : 'inline'}; ${formatFileName(name)}`,
    },
    send: (response) => Promise.resolve(void response.end(bytes)),
  };
}

/** Detects the type from the content. Text is always plain text, so that a browser never renders it as a page. */
async function detectType(bytes: Buffer): Promise<string> {
  const isBinary = bytes.subarray(0, 8000).includes(0);
  return (await findImageType(bytes)) ?? (isBinary ? 'application/octet-stream' : 'text/plain; charset=utf-8');
}
