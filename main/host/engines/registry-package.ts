import { chmod, writeFile } from 'node:fs/promises';
import { removeTree } from '../../../services/kit/platform/file-replacement.ts';
import { buildLauncher } from './launcher.ts';
import { oldestPython } from './python.ts';
import { SourceUnavailable } from './release/source-unavailable.ts';
import type { InstallOptions, Strategy } from './strategy.ts';
import { installSystemPackages } from './system-packages.ts';
import { askVersion } from './version.ts';
import { addExtras, installWheels } from './wheels.ts';

/**
 * Installs the wheels of the Python package registry, each checked against its pinned checksum, with a launcher.
 * @param installOwnPython Installs a Python for Homeport's own use; throws SourceUnavailable.
 */
export function registryPackage(installOwnPython: () => Promise<void>): Strategy {
  return {
    title: 'the package registry',
    async install(options) {
      const { spec, folder, computer, python: pythons, log, report } = options;
      const { name, python: library } = spec;
      if (library === undefined) throw new SourceUnavailable('it is not published there');
      report('Looking for a Python with pip');
      if (computer.platform === 'win32' && library.importedOnly !== true) {
        throw new SourceUnavailable('Windows has no launcher for it');
      }
      const python = (await pythons.find({ pip: true })) ?? (await installPython(options, installOwnPython));
      const staged = await folder.stage();
      try {
        report('Getting the package from the registry');
        await installWheels(python, staged, library.packages);
        if (library.extras !== undefined) {
          report(library.extras.step);
          await addExtras(spec, python, staged, log);
        }

        const launcher = folder.getProgram(staged);
        const run = `${library.run}${library.options === undefined ? '' : ` ${library.options}`}`;
        await writeFile(launcher, buildLauncher(python, run, computer.platform));
        await chmod(launcher, 0o755);
        report('Trying it');
        const answer = await askVersion(spec, launcher, computer.platform);
        if ('reason' in answer) throw new SourceUnavailable(`the installed package does not run: ${answer.reason}`);
        await folder.publish(staged, answer.version);
        log.info('engine installed from the package registry', { engine: name, version: answer.version, python });
      } finally {
        await removeTree(staged);
      }
    },
  };
}

async function installPython(
  { computer, python: pythons, report }: InstallOptions,
  installOwnPython: () => Promise<void>,
): Promise<string> {
  report('Installing Python');
  const reasons: string[] = [];
  const ways = [installOwnPython, () => installSystemPackages(['python3', 'python3-pip'], computer.platform)];
  for (const install of ways) {
    try {
      await install();
      const python = await pythons.find({ pip: true });
      if (python !== undefined) return python;
      reasons.push('the installed Python cannot be used');
    } catch (error) {
      if (!(error instanceof SourceUnavailable)) throw error;
      reasons.push(error.message);
    }
  }
  throw new SourceUnavailable(`there is no Python ${oldestPython} or newer with pip: ${reasons.join('; ')}`);
}
