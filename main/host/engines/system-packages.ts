import { readFile } from 'node:fs/promises';
import { runCommand } from './command.ts';
import { systemPath } from './places.ts';
import { SourceUnavailable } from './release/source-unavailable.ts';
import type { Strategy } from './strategy.ts';

const packageTimeoutMs = 10 * 60_000;

/**
 * Installs packages with apt-get.
 * @throws SourceUnavailable on other systems than Debian and Ubuntu, and without permission.
 */
export async function installSystemPackages(packages: readonly string[], platform: NodeJS.Platform): Promise<void> {
  const apt = platform === 'linux' ? await systemPath('apt-get', platform) : undefined;
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  if (apt === undefined || !/^ID(_LIKE)?=.*(debian|ubuntu)/m.test(release)) {
    throw new SourceUnavailable('this system has no apt-get');
  }
  if (process.getuid?.() !== 0) throw new SourceUnavailable('only root may install system packages');
  const install = ['-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '--no-install-recommends', ...packages];
  const run = async (args: readonly string[]) =>
    await runCommand(apt, args, { timeoutMs: packageTimeoutMs, environment: { DEBIAN_FRONTEND: 'noninteractive' } });
  if ((await run(install)).ok) return;
  // A new computer has no package lists yet, or outdated ones.
  await run(['update']);
  const result = await run(install);
  if (!result.ok) throw new SourceUnavailable(`apt-get install ${packages.join(' ')}: ${result.reason}`);
}

/** Installs an engine from the distribution. */
export function systemPackage(packages: readonly string[]): Strategy {
  return {
    title: 'the system package',
    async install({ computer, log, report }) {
      report('Installing the system package');
      await installSystemPackages(packages, computer.platform);
      log.info('engine installed from the system package', { package: packages.join(' ') });
    },
  };
}
