import * as m from '#messages/engine-texts';
import { readText } from '../../../services/contracts/text.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineSpec, PinnedPackage } from '../../../services/contracts/control/engine-spec.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { runCommand } from './command.ts';
import { SourceUnavailable } from './release/source-unavailable.ts';

const installTimeoutMs = 5 * 60_000;

/** Returns the folder with the packages of an installed engine, beside its launcher. */
export function getPackages(folder: string): string {
  return join(folder, 'packages');
}

/**
 * Installs wheels of the package registry into a staged folder, each checked against its pinned checksum.
 * @throws SourceUnavailable with pip's own reason.
 */
export async function installWheels(
  python: string,
  staged: string,
  packages: readonly PinnedPackage[],
  list = 'requirements.txt',
): Promise<void> {
  const requirements = join(staged, list);
  const pins = packages.map(
    ({ name, version, sha256 }) => `${name}==${version} ${sha256.map((sum) => `--hash=sha256:${sum}`).join(' ')}\n`,
  );
  await writeFile(requirements, pins.join(''));
  // Without --no-deps, an unavailable dependency makes pip fall back to an older release.
  const options = [
    '--no-deps',
    '--require-hashes',
    '--only-binary',
    ':all:',
    '--no-input',
    '--no-warn-script-location',
  ];
  const target = ['--target', getPackages(staged), '--requirement', requirements];
  const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--quiet', ...options, ...target];
  const result = await runCommand(python, pip, { timeoutMs: installTimeoutMs });
  if (!result.ok) {
    throw new SourceUnavailable(() => m.commandFailed({ command: 'pip', reason: readText(result.reason) }));
  }
}

/** Installs optional packages: they may be compiled, and not available for every computer. */
export async function addExtras(
  { name, python: library }: EngineSpec,
  python: string,
  staged: string,
  log: Log,
): Promise<boolean> {
  const extras = library?.extras;
  if (extras === undefined) return false;
  try {
    await installWheels(python, staged, extras.packages, 'extras.txt');
    return true;
  } catch (error) {
    if (!(error instanceof SourceUnavailable)) throw error;
    log.warn('engine installed without extras', {
      engine: name,
      extras: extras.title,
      effect: extras.without,
      reason: error.message,
    });
    return false;
  }
}
