import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ArchiveFile, ArchiveFiles, EngineSpec } from '../../services/contracts/control/engine-spec.ts';
import { buildTarGz, buildZip } from './archives.ts';

/** Server of releases on loopback. */
export interface ReleaseServer extends AsyncDisposable {
  readonly url: string;
  /** Served files by their name. */
  readonly files: Record<string, string | Buffer>;
  readonly requested: readonly string[];
}

export async function openReleaseServer(): Promise<ReleaseServer> {
  const files: Record<string, string | Buffer> = {};
  const requested: string[] = [];
  const server = createServer((request, response) => {
    const name = decodeURIComponent(request.url?.split('/').at(-1) ?? '');
    requested.push(name);
    response.statusCode = files[name] === undefined ? 404 : 200;
    response.end(files[name]);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    files,
    requested,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function getSha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Returns the last segment of an address, as the server serves it. */
export function getFileName(address: string): string {
  return decodeURIComponent(address.slice(address.lastIndexOf('/') + 1));
}

/**
 * Serves an archive for each file of a release, with scripts as its programs, and adds its sum to the published list.
 * @param getProgram Returns the content of a program, by its name in the installed folder.
 */
export async function publishArchives(
  { files }: ReleaseServer,
  archives: readonly ArchiveFile[],
  { location, getProgram }: { readonly location: string; readonly getProgram: (name: string) => string },
): Promise<void> {
  for (const { address, checksum, members = { [location]: location } } of archives) {
    const contents = Object.entries(members).map(([name, target]) => ({ name, content: getProgram(target) }));
    const name = getFileName(address);
    const archive = name.endsWith('.zip') ? buildZip(contents) : await buildTarGz(contents);
    files[name] = archive;
    if ('list' in checksum) {
      const list = getFileName(checksum.list);
      files[list] = `${String(files[list] ?? '')}${getSha256(archive)}  ${name}\n`;
    }
  }
}

/** Returns the engine with the sums of the served archives in place of the pinned ones. */
export function withServedSums(spec: EngineSpec, { files }: Pick<ReleaseServer, 'files'>): EngineSpec {
  const toServed = (archive: ArchiveFile): ArchiveFile => {
    const served = files[getFileName(archive.address)];
    const isPinned = 'sha256' in archive.checksum;
    return served === undefined || !isPinned ? archive : { ...archive, checksum: { sha256: getSha256(served) } };
  };
  const convert = (archives: ArchiveFiles): ArchiveFiles =>
    Object.fromEntries(Object.entries(archives).map(([target, list]) => [target, list.map(toServed)]));
  return {
    ...spec,
    sources: spec.sources.map((source) =>
      source.from === 'archive' ? { ...source, files: convert(source.files) } : source,
    ),
  };
}
