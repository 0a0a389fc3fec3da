import * as m from '#messages/engine-texts';
import { readText } from '../../../services/contracts/text.ts';
import type { Computer, EngineSource } from '../../../services/contracts/control/engine-spec.ts';
import { runCommand } from './command.ts';
import { systemPath } from './places.ts';
import { SourceUnavailable } from './release/source-unavailable.ts';
import type { Strategy } from './strategy.ts';

const packageTimeoutMs = 10 * 60_000;

/**
 * Installs packages with apt-get.
 * @throws SourceUnavailable on other systems than Debian and Ubuntu, and without permission.
 */
export async function installSystemPackages(
  packages: readonly string[],
  { platform, packageManager }: Computer,
): Promise<void> {
  const apt = packageManager === 'apt-get' ? await systemPath('apt-get', platform) : undefined;
  if (apt === undefined) {
    throw new SourceUnavailable(m.noAptGet);
  }
  if (process.getuid?.() !== 0) throw new SourceUnavailable(m.needsRoot);
  const install = ['-o', 'DPkg::Lock::Timeout=120', 'install', '-y', '--no-install-recommends', ...packages];
  const run = async (args: readonly string[]) =>
    await runCommand(apt, args, { timeoutMs: packageTimeoutMs, environment: { DEBIAN_FRONTEND: 'noninteractive' } });
  if ((await run(install)).ok) return;
  // A new computer has no package lists yet, or outdated ones.
  await run(['update']);
  const result = await run(install);
  if (result.ok) return;
  const command = `apt-get install ${packages.join(' ')}`;
  throw new SourceUnavailable(() => m.commandFailed({ command, reason: readText(result.reason) }));
}

/** Installs an engine from the distribution. */
export function systemPackage({ packages }: Extract<EngineSource, { readonly from: 'system' }>): Strategy {
  return {
    title: m.systemPackage,
    async install({ computer, log, report }) {
      report(m.stepSystemPackage);
      await installSystemPackages(packages, computer);
      log.info('engine installed from the system package', { package: packages.join(' ') });
    },
  };
}
