import * as m from '#messages/engine-texts';
import { readText } from '../../../services/contracts/text.ts';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineSource } from '../../../services/contracts/control/engine-spec.ts';
import { removeTree, replaceFile } from '../../../services/kit/platform/file-replacement.ts';
import { buildLauncher } from './launcher.ts';
import { archiveName, isArchive } from './library.ts';
import { findChecksum } from './release/checksums.ts';
import { requestFile, requestText, saveFile } from './release/download.ts';
import { SourceUnavailable } from './release/source-unavailable.ts';
import type { InstallOptions, Strategy } from './strategy.ts';
import { askVersion } from './version.ts';
import { addExtras, getPackages } from './wheels.ts';

type Release = Extract<EngineSource, { readonly from: 'release' }>;

/** Installs the release file of the project, checked against its list of sums. */
export function officialRelease(source: Release, releases = source.releases): Strategy {
  return {
    title: m.officialRelease,
    async install(options) {
      const { spec, folder, computer, python, log, report } = options;
      report(m.stepRequestRelease);
      const address = `${releases}/download/${source.version}`;
      const sums = await requestText(`${address}/${source.sums}`);
      const asset = source.asset({ ...computer, python: (await python.find()) !== undefined });
      const expected = findChecksum(sums, asset);
      if (expected === undefined) throw new SourceUnavailable(() => m.noChecksum({ file: asset }));

      const staged = await folder.stage();
      try {
        const path = folder.getProgram(staged);
        const release = await requestFile(`${address}/${asset}`);
        const actual = await saveFile(release, path, {
          reportPercent: (percent) => report(m.stepDownload, percent),
        });
        if (actual !== expected) throw new SourceUnavailable(() => m.checksumMismatch({ file: asset }));
        await chmod(path, 0o755);
        report(m.stepTest);
        const answer = await askVersion(spec, path, computer.platform);
        if ('reason' in answer) {
          const { reason } = answer;
          throw new SourceUnavailable(() => m.doesNotRun({ file: asset, reason: readText(reason) }));
        }
        await withExtras(staged, options);
        await folder.publish(staged, answer.version);
        log.info('engine installed from the official release', { asset, version: answer.version });
      } finally {
        await removeTree(staged);
      }
    },
  };
}

/** Adds packages that an archive lacks compared with a standalone program, when pip is available. */
async function withExtras(
  staged: string,
  { spec, folder, computer, python: pythons, log, report }: InstallOptions,
): Promise<void> {
  const { name } = spec;
  const { extras, options = '' } = spec.python ?? {};
  const path = folder.getProgram(staged);
  if (extras === undefined || computer.platform === 'win32' || !(await isArchive(path))) return;
  const python = await pythons.find({ pip: true });
  if (python === undefined)
    return log.info('engine installed without extras', {
      engine: name,
      extras: extras.title,
      reason: 'pip is missing',
    });
  report(extras.step);
  if (!(await addExtras(spec, python, staged, log))) return;
  const archive = archiveName(name);
  await replaceFile(path, join(staged, archive));
  const run = `"$here/${archive}" ${options}`;
  await writeFile(path, buildLauncher(python, run, computer.platform), { mode: 0o755 });
  const answer = await askVersion(spec, path, computer.platform);
  if ('version' in answer) return;
  log.warn('engine failed with extras, extras removed', {
    engine: name,
    extras: extras.title,
    reason: readText(answer.reason),
  });
  await removeTree(getPackages(staged));
  await replaceFile(join(staged, archive), path);
}
