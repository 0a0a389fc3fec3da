import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { unknown } from '../repositories/lookup.ts';
import type { Answer } from '../rest/call.ts';
import { fileName } from '../rest/file-name.ts';
import type { RestParts } from '../rest/parts.ts';
import type { AssetRow } from '../store/rest.ts';

const byUuid = /^\/attachments\/([0-9a-f-]{36})$/;
const byName = /^\/([^/]+)\/([^/]+)\/releases\/download\/(.+)\/([^/]+)$/;

/** The files of releases, at the addresses that answers name; undefined for another path. @throws Problem (404) */
export async function attachment(
  { access, lookup, releases, repositories, signIn }: RestParts,
  request: IncomingMessage,
  { pathname }: URL,
): Promise<Answer | undefined> {
  const uuid = byUuid.exec(pathname)?.[1];
  if (uuid !== undefined) {
    const found = await releases.byUuid(uuid);
    const repository = found && (await repositories.byId(found.repository));
    const visitor = await signIn.visitor(request);
    if (repository === undefined || !(await access.may(visitor, repository, 'read'))) throw unknown();
    return file(found?.asset, (asset) => releases.read(repository, asset));
  }
  const [, owner, name, tag, asset] = (byName.exec(pathname) ?? []).map(decodeURIComponent);
  if (owner === undefined || name === undefined || tag === undefined) return undefined;
  const repository = await lookup.need(await signIn.visitor(request), [owner, name], 'read');
  const release = await releases.byTag(repository.id, tag);
  if (release === undefined || release.draft === 1) throw unknown();
  const row = (await releases.assets(release.id)).find((each) => each.name === asset);
  return file(row, (each) => releases.read(repository, each));
}

function file(asset: AssetRow | undefined, read: (asset: AssetRow) => Promise<NodeJS.ReadableStream>): Answer {
  if (asset === undefined) throw unknown();
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/octet-stream',
      'Content-Length': asset.size,
      'Content-Disposition': `attachment; ${fileName(asset.name)}`,
      'X-Content-Type-Options': 'nosniff',
      ETag: `"${asset.uuid}"`,
    },
    send: async (response) => pipeline(await read(asset), response),
  };
}
