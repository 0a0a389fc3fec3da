import * as m from '#messages/engine-texts';
import { readText } from '../../../services/contracts/text.ts';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  ArchiveFile,
  Computer,
  EngineSource,
  EngineSpec,
} from '../../../services/contracts/control/engine-spec.ts';
import { executableName } from '../../../services/kit/platform/executables.ts';
import { removeTree } from '../../../services/kit/platform/file-replacement.ts';
import { findChecksum } from './release/checksums.ts';
import { requestFile, requestText, saveFile } from './release/download.ts';
import { SourceUnavailable } from './release/source-unavailable.ts';
import { unpackArchive } from './release/unpack.ts';
import type { InstallOptions, Strategy } from './strategy.ts';
import { askVersion } from './version.ts';

type Archive = Extract<EngineSource, { readonly from: 'archive' }>;

/** Returns the archives for a computer; undefined when the publisher has none. */
export function getArchiveFiles(
  { files }: Pick<Archive, 'files'>,
  { platform, arch }: Computer,
): readonly ArchiveFile[] | undefined {
  return Object.entries(files).find(([target]) => target === `${platform}-${arch}`)?.[1];
}

/**
 * Installs the archives of a release. Each is verified before it is unpacked, and the programs are tried before the
 * installation takes effect.
 * @param releases Address that replaces those of the publishers, for tests.
 */
export function releaseArchive(source: Archive, releases?: string): Strategy {
  const toAddress = (address: string): string =>
    releases === undefined ? address : `${releases}/${address.slice(address.lastIndexOf('/') + 1)}`;
  return {
    title: m.releaseArchive,
    async install(options) {
      const { spec, parts, folder, computer, log, report } = options;
      const files = getArchiveFiles(source, computer);
      if (files === undefined) {
        const { platform, arch } = computer;
        throw new SourceUnavailable(() => m.noArchive({ system: platform, processor: arch }));
      }
      report(m.stepRequestRelease);
      const staged = await folder.stage();
      try {
        for (const file of files) await addArchive(file, staged, { toAddress, report });
        report(m.stepTest);
        const program = folder.getProgram(staged);
        const version = await tryProgram(spec, program, computer);
        for (const part of parts) {
          await tryProgram(part, join(staged, executableName(part.name, computer.platform)), computer);
        }
        await folder.publish(staged, version);
        log.info('engine installed from the release archive', { engine: spec.name, version });
      } finally {
        await removeTree(staged);
      }
    },
  };
}

interface AddOptions extends Pick<InstallOptions, 'report'> {
  readonly toAddress: (address: string) => string;
}

async function addArchive(
  { address, checksum, members }: ArchiveFile,
  staged: string,
  { toAddress, report }: AddOptions,
): Promise<void> {
  const name = decodeURIComponent(address.slice(address.lastIndexOf('/') + 1));
  const expected =
    'sha256' in checksum ? checksum.sha256 : findChecksum(await requestText(toAddress(checksum.list)), name);
  if (expected === undefined) throw new SourceUnavailable(() => m.noChecksum({ file: name }));
  const downloads = join(staged, '.download');
  await mkdir(downloads, { recursive: true });
  const archive = join(downloads, name);
  const response = await requestFile(toAddress(address));
  const actual = await saveFile(response, archive, {
    reportPercent: (percent) => report(m.stepDownload, percent),
  });
  if (actual !== expected) throw new SourceUnavailable(() => m.checksumMismatch({ file: name }));
  report(m.stepUnpack);
  await unpack(archive, name, staged, members);
  await removeTree(downloads);
}

async function unpack(archive: string, name: string, folder: string, members: ArchiveFile['members']): Promise<void> {
  try {
    await unpackArchive(archive, { name, folder, ...(members !== undefined && { members }) });
  } catch (error) {
    if (error instanceof SourceUnavailable) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new SourceUnavailable(() => m.unpackFailed({ file: name, reason }), { cause: error });
  }
}

/** Makes a program executable and returns its version. */
async function tryProgram(spec: EngineSpec, program: string, { platform }: Computer): Promise<string> {
  await chmod(program, 0o755).catch((cause: unknown) => {
    throw new SourceUnavailable(() => m.notInArchive({ archive: spec.title, file: spec.name }), { cause });
  });
  const answer = await askVersion(spec, program, platform);
  if ('reason' in answer) {
    const { reason } = answer;
    throw new SourceUnavailable(() => m.doesNotRun({ file: spec.name, reason: readText(reason) }));
  }
  return answer.version;
}
