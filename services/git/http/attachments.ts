import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Attachments } from '../issues/attachments.ts';
import type { StoredFile } from '../releases/stored-files.ts';
import { unknown } from '../repositories/lookup.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Answer } from '../gitea-api/call.ts';
import { formatFileName } from '../gitea-api/content-disposition.ts';
import type { ApiDependencies } from '../gitea-api/api-dependencies.ts';

const byUuid = /^\/attachments\/([0-9a-f-]{36})$/;
/** Scripts that download the latest release use the address of other forges, `/releases/latest/download/NAME`. */
const byLatest = /^\/([^/]+)\/([^/]+)\/releases\/(?:latest\/download|download\/latest)\/([^/]+)$/;
const byName = /^\/([^/]+)\/([^/]+)\/releases\/download\/(.+)\/([^/]+)$/;

/** Returns a file of a release or issue at its download URL; undefined for other paths. @throws Problem (404) */
export async function attachment(
  { access, context, lookup, releases, repositories, signIn }: ApiDependencies,
  request: IncomingMessage,
  { pathname }: URL,
): Promise<Answer | undefined> {
  const uuid = byUuid.exec(pathname)?.[1];
  if (uuid !== undefined) {
    const visitor = await signIn.visitor(request);
    const readable = async (id: number | undefined): Promise<Repository> => {
      const repository = id === undefined ? undefined : await repositories.byId(id);
      if (repository === undefined || !(await access.may(visitor, repository, 'read'))) throw unknown();
      return repository;
    };
    const released = await releases.byUuid(uuid);
    if (released !== undefined) {
      const repository = await readable(released.repository);
      return file(released.asset, (asset) => releases.read(repository, asset));
    }
    const attachments = new Attachments(context);
    const attached = await attachments.byUuid(uuid);
    const repository = await readable(attached?.repository);
    return file(attached?.file, (each) => attachments.read(repository, each));
  }
  const isLatest = byLatest.test(pathname);
  const [, owner, name, ...rest] = ((isLatest ? byLatest : byName).exec(pathname) ?? []).map(decodeURIComponent);
  if (owner === undefined || name === undefined) return undefined;
  const repository = await lookup.need(await signIn.visitor(request), [owner, name], 'read');
  const [tag = '', asset] = isLatest ? ['latest', ...rest] : rest;
  const tagged = await releases.byTag(repository.id, tag);
  const release = tagged ?? (isLatest ? await releases.latest(repository.id) : undefined);
  if (release === undefined || release.draft === 1) throw unknown();
  const row = (await releases.assets(release.id)).find((each) => each.name === asset);
  return file(row, (each) => releases.read(repository, each));
}

function file<Row extends StoredFile>(
  asset: Row | undefined,
  read: (asset: Row) => Promise<NodeJS.ReadableStream>,
): Answer {
  if (asset === undefined) throw unknown();
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
