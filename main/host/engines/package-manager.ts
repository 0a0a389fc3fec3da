import { readFileSync } from 'node:fs';
import type { PackageManager } from '../../../services/contracts/control/engine-spec.ts';

/** Identifiers of distributions in `/etc/os-release`, with the package manager of each. */
const managers: Readonly<Record<string, PackageManager>> = {
  debian: 'apt-get',
  ubuntu: 'apt-get',
  fedora: 'dnf',
  rhel: 'dnf',
  centos: 'dnf',
  arch: 'pacman',
  opensuse: 'zypper',
  suse: 'zypper',
  alpine: 'apk',
};

const installArguments: Readonly<Record<PackageManager, string>> = {
  'apt-get': 'install',
  dnf: 'install',
  pacman: '-S',
  zypper: 'install',
  apk: 'add',
};

/** Returns the command that installs packages. Root has to run it. */
export function buildInstallCommand(manager: PackageManager, packages: readonly string[]): string {
  return [manager, installArguments[manager], ...packages].join(' ');
}

/**
 * Returns the package manager of a Linux distribution; undefined for an unknown one.
 * @param osRelease Content of `os-release`. Derived distributions name those they are compatible with in `ID_LIKE`.
 */
export function findPackageManager(osRelease: string): PackageManager | undefined {
  const ids = ['ID', 'ID_LIKE'].flatMap((key) => {
    const value = new RegExp(`^${key}=(.*)$`, 'm').exec(osRelease)?.[1] ?? '';
    return value.replaceAll(/["']/g, '').trim().toLowerCase().split(/\s+/);
  });
  const id = ids.find((each) => Object.hasOwn(managers, each));
  return id === undefined ? undefined : managers[id];
}

/** Returns the package manager of this computer; undefined on other systems than Linux. */
export function readPackageManager(platform: NodeJS.Platform): PackageManager | undefined {
  if (platform !== 'linux') return undefined;
  for (const path of ['/etc/os-release', '/usr/lib/os-release']) {
    try {
      return findPackageManager(readFileSync(path, 'utf8'));
    } catch {
      // The second file exists where the first one was removed.
    }
  }
  return undefined;
}
