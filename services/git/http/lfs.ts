import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { parseByteRange } from '../../kit/http/byte-range.ts';
import { isLfsObject, linkLifetimeSeconds, type LfsStore } from '../lfs/lfs-store.ts';
import type { Locks } from '../lfs/locks.ts';
import type { LfsTickets } from '../lfs/tickets.ts';
import { levels } from '../repositories/access.ts';
import type { Lookup } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import type { Caller } from '../sign-in/caller.ts';
import { respondToError } from '../../kit/http/errors.ts';
import { sendReply, startResponse, type Reply } from '../../kit/http/respond.ts';
import { answerLocks } from './lfs-locks.ts';
import { lfsBody, type LfsCall } from './lfs-call.ts';
import { lfsReply, lfsSignIn, lfsType, renderLfsProblem } from './lfs-reply.ts';
import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';

export interface LfsDependencies {
  readonly context: Pick<Context, 'log' | 'random'>;
  readonly signIn: SignIn;
  readonly lookup: Lookup;
  readonly store: LfsStore;
  readonly locks: Locks;
  readonly tickets: LfsTickets;
}

const path = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/info\/lfs\/(.+)$/;
const object = /^objects\/([^/]+)(?:\/(\d{1,16}))?$/;
const maxBatchObjects = 5000;
const batchBody = z.object({
  operation: z.enum(['upload', 'download']),
  objects: z.array(z.object({ oid: z.string(), size: z.number() })).max(maxBatchObjects),
});
const verifyBody = z.object({ oid: z.string(), size: z.number() });

/** Returns true for a path of the Git LFS protocol. */
export function isLfsPath(pathname: string): boolean {
  return path.test(pathname);
}

/** Answers requests of the Git LFS protocol. */
export async function lfs(
  deps: LfsDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  { url, base }: { readonly url: URL; readonly base: string },
): Promise<void> {
  const [, owner = '', name = '', action = ''] = path.exec(url.pathname) ?? [];
  const isLock = action === 'locks' || action.startsWith('locks/');
  try {
    const caller = await getCaller(deps, request);
    const call: LfsCall = {
      request,
      response,
      url,
      caller,
      root: `${base}/${owner}/${name}.git/info/lfs`,
      requireRepository: (level, detail) =>
        requireRepository(deps, caller, [decode(owner), decode(name)], level, detail),
    };
    const { method } = request;
    const isJson = isLock || action === 'objects/batch' || action === 'verify';
    if (isJson && !acceptsLfsType(request.headers.accept))
      throw new Problem('git.lfs_type', 415, 'Unsupported Media Type');
    const [, oid = '', size] = object.exec(action) ?? [];
    if (isLock) return await answerLocks(deps.locks, call, action);
    if (action === 'objects/batch' && method === 'POST') return await batch(deps, call);
    if (action === 'verify' && method === 'POST') return await verify(deps, call);
    if (oid !== '' && size !== undefined && method === 'PUT')
      return await upload(deps, call, { oid, size: Number(size) });
    if (oid !== '' && size === undefined && (method === 'GET' || method === 'HEAD'))
      return await download(deps, call, oid);
    throw new Problem('git.unknown', 404, 'Not Found');
  } catch (error) {
    refuse(deps, request, response, isLock, error);
  }
}

async function getCaller({ signIn, tickets }: LfsDependencies, request: IncomingMessage): Promise<Caller> {
  const byTicket = await tickets.authenticate(request.headers.authorization);
  return byTicket ?? signIn.authenticate(request);
}

async function requireRepository(
  { lookup }: LfsDependencies,
  caller: Caller,
  [owner, name]: readonly [string, string],
  level: 'read' | 'write',
  detail?: string,
): Promise<Repository> {
  const isKnown = caller.identity !== undefined || caller.deployKey !== undefined;
  const renamed = await lookup.findRenamed(caller, owner, name);
  const result = await lookup.find(caller, renamed?.owner ?? owner, renamed?.name ?? name);
  if (!isKnown && (result === undefined || level === 'write')) throw lfsSignIn(detail ?? 'Unauthorized');
  if (result === undefined) throw new Problem('git.unknown', 404, 'Not Found');
  if (levels.indexOf(result.level) < levels.indexOf(level))
    throw new Problem('git.forbidden', 403, detail ?? 'Forbidden');
  if (level === 'write' && result.repository.archived)
    throw new Problem('git.archived', 403, 'This repository is archived.');
  return result.repository;
}

async function batch(
  { store }: LfsDependencies,
  { requireRepository: needed, request, response, root }: LfsCall,
): Promise<void> {
  const { operation, objects } = await lfsBody(request, batchBody);
  const repository = await needed(operation === 'upload' ? 'write' : 'read');
  const storedSizes = await store.sizes(
    repository,
    objects.map(({ oid }) => oid),
  );
  const unusable = operation === 'upload' ? await findUnusable(store, repository, storedSizes) : new Set<string>();
  const missing = operation === 'upload' ? objects.filter(({ oid }) => !storedSizes.has(oid)) : [];
  if (missing.length > 0)
    await store.checkQuota(
      repository,
      missing.reduce((sum, { size }) => sum + size, 0),
    );
  // The following requests use the same credentials.
  const { authorization } = request.headers;
  const header = authorization === undefined ? {} : { Authorization: authorization };
  const links = operation === 'download' ? await findLinks(store, repository, storedSizes) : new Map<string, string>();
  const answers = objects.map(({ oid, size }) => {
    if (!isLfsObject({ oid, size })) return { oid, size, error: { code: 422, message: 'Oid or size are invalid' } };
    const existing = storedSizes.get(oid);
    if (operation === 'download') {
      if (existing === undefined) return { oid, size, error: { code: 404, message: 'Not Found' } };
      if (existing !== size) return { oid, size, error: { code: 422, message: `Object ${oid} is not ${size} bytes` } };
      const link = links.get(oid);
      // The address of the store contains a signature, and further credentials would invalidate it.
      if (link !== undefined)
        return { oid, size, actions: { download: { href: link, expires_in: linkLifetimeSeconds } } };
      return { oid, size, actions: { download: { href: `${root}/objects/${oid}`, header } } };
    }
    if (existing !== undefined && existing !== size)
      return { oid, size, error: { code: 422, message: `Object ${oid} is not ${size} bytes` } };
    if (existing !== undefined && !unusable.has(oid)) return { oid, size };
    const upload = { href: `${root}/objects/${oid}/${size}`, header: { ...header, 'Transfer-Encoding': 'chunked' } };
    const check = { href: `${root}/verify`, header: { ...header, Accept: `${lfsType};q=0.9, */*;q=0.8` } };
    return { oid, size, actions: { upload, verify: check } };
  });
  lfsReply(response, 200, { objects: answers });
}

function findUnusable(
  store: LfsStore,
  repository: Repository,
  sizes: ReadonlyMap<string, number>,
): Promise<ReadonlySet<string>> {
  return store.findUnusable(
    repository,
    [...sizes].map(([oid, size]) => ({ oid, size })),
  );
}

/** Returns the addresses of direct downloads by object ID; empty unless such downloads are enabled. */
async function findLinks(
  store: LfsStore,
  repository: Repository,
  objects: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, string>> {
  const links = new Map<string, string>();
  for (const oid of objects.keys()) {
    const link = await store.link(repository, oid);
    if (link === undefined) break;
    links.set(oid, link);
  }
  return links;
}

async function verify(
  { store }: LfsDependencies,
  { requireRepository: needed, request, response }: LfsCall,
): Promise<void> {
  const input = await lfsBody(request, verifyBody);
  const repository = await needed('write');
  const size = (await store.sizes(repository, [input.oid])).get(input.oid);
  if (size === undefined) throw new Problem('git.unknown', 404, 'Not Found');
  if (size !== input.size || !(await store.isComplete(repository, input)))
    throw new Problem('git.lfs_mismatch', 422, 'Oid or size are invalid');
  lfsReply(response, 200, { Message: 'OK' });
}

async function upload(
  { store }: LfsDependencies,
  { requireRepository: needed, request, response }: LfsCall,
  requested: { readonly oid: string; readonly size: number },
): Promise<void> {
  const repository = await needed('write');
  if (!isLfsObject(requested)) throw new Problem('git.lfs_mismatch', 422, 'Oid or size are invalid');
  await store.receive(repository, requested, request);
  lfsReply(response, 200, { Message: 'OK' });
}

async function download(
  { store }: LfsDependencies,
  { requireRepository: needed, request, response }: LfsCall,
  oid: string,
): Promise<void> {
  const repository = await needed('read');
  const size = (await store.sizes(repository, [oid])).get(oid);
  if (size === undefined) throw new Problem('git.unknown', 404, 'Not Found');
  const range = parseByteRange(request.headers.range, size);
  const common = {
    'Cache-Control': 'max-age=0, private, must-revalidate',
    'Content-Type': 'application/octet-stream',
    'Accept-Ranges': 'bytes',
    ETag: `"${oid}"`,
  };
  if (range === 'unsatisfiable') {
    sendReply(response, { status: 416, headers: { ...common, 'Content-Range': `bytes */${size}` } });
    return;
  }
  // Opened before the response begins, so that a failure is reported.
  const content = request.method === 'HEAD' || size === 0 ? undefined : await store.read(repository, oid, range);
  startResponse(response, range === undefined ? 200 : 206, {
    ...common,
    'Content-Length': range === undefined ? size : range.end - range.start + 1,
    ...(range === undefined
      ? {}
      : {
          'Content-Range': `bytes ${range.start}-${range.end}/${size}`,
          'Access-Control-Expose-Headers': 'Content-Range',
        }),
  });
  if (content === undefined) response.end();
  else await pipeline(content, response);
}

/** Decodes a path segment. @throws Problem (404) for invalid UTF-8 */
function decode(part: string): string {
  const decoded = decodePercentEncoding(part);
  if (decoded === undefined) throw new Problem('git.unknown', 404, 'Not Found');
  return decoded;
}

function acceptsLfsType(accept: string | undefined): boolean {
  return accept === undefined || accept.includes(lfsType) || accept.includes('*/*');
}

function refuse(
  { context }: LfsDependencies,
  request: IncomingMessage,
  response: ServerResponse,
  isLock: boolean,
  error: unknown,
): void {
  const render = (problem: Problem): Reply => renderLfsProblem(problem, isLock);
  respondToError(request, response, error, { ...context, code: 'git.failed', render });
}
