import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Attachments } from '../issues/attachments.ts';
import type { StoredFile } from '../releases/stored-files.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Answer } from '../gitea-api/call.ts';
import { formatFileName } from '../gitea-api/content-disposition.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'features'>;

const byUuid = /^\/attachments\/([0-9a-f-]{36})$/;
/** Scripts that download the latest release use the address of other forges, `/releases/latest/download/NAME`. */
const byLatest = /^\/([^/]+)\/([^/]+)\/releases\/(?:latest\/download|download\/latest)\/([^/]+)$/;
const byName = /^\/([^/]+)\/([^/]+)\/releases\/download\/(.+)\/([^/]+)$/;

/** Returns a file of a release or issue at its download URL; undefined for other paths. @throws Problem (404) */
export async function attachment(
  {
    accessControl: { access, lookup, signIn },
    context,
    features: { releases },
    storage: { repositories },
  }: Dependencies,
  request: IncomingMessage,
  { pathname }: URL,
): Promise<Answer | undefined> {
  const uuid = byUuid.exec(pathname)?.[1];
  if (uuid !== undefined) {
    const caller = await signIn.authenticate(request);
    const readable = async (id: number | undefined): Promise<Repository> => {
      const repository = id === undefined ? undefined : await repositories.findById(id);
      if (repository === undefined || !(await access.hasLevel(caller, repository, 'read')))
        throw buildNotFoundProblem();
      return repository;
    };
    const released = await releases.findByUuid(uuid);
    if (released !== undefined) {
      const repository = await readable(released.repository);
      return file(released.asset, (asset) => releases.read(repository, asset));
    }
    const attachments = new Attachments(context);
    const attached = await attachments.findByUuid(uuid);
    const repository = await readable(attached?.repository);
    return file(attached?.file, (each) => attachments.read(repository, each));
  }
  const isLatest = byLatest.test(pathname);
  const [, owner, name, ...rest] = ((isLatest ? byLatest : byName).exec(pathname) ?? []).map(decodeURIComponent);
  if (owner === undefined || name === undefined) return undefined;
  const repository = await lookup.require(await signIn.authenticate(request), [owner, name], 'read');
  const [tag = '', asset] = isLatest ? ['latest', ...rest] : rest;
  const tagged = await releases.findByTag(repository.id, tag);
  const release = tagged ?? (isLatest ? await releases.findLatest(repository.id) : undefined);
  if (release === undefined || release.draft === 1) throw buildNotFoundProblem();
  const row = (await releases.assets(release.id)).find((each) => each.name === asset);
  return file(row, (each) => releases.read(repository, each));
}

function file<Row extends StoredFile>(
  asset: Row | undefined,
  read: (asset: Row) => Promise<NodeJS.ReadableStream>,
): Answer {
  if (asset === undefined) throw buildNotFoundProblem();
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/octet-stream',
      'Content-Length': asset.size,
      'Content-Disposition': `attachment; ${formatFileName(asset.name)}`,
      'X-Content-Type-Options': 'nosniff',
      ETag: `"${asset.uuid}"`,
    },
    send: async (response) => pipeline(await read(asset), response),
  };
}
