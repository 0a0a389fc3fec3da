import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openEngines } from '../../../main/host/engines/engines.ts';
import { findPackageManager } from '../../../main/host/engines/package-manager.ts';
import { getInstallCommand } from '../../../main/host/engines/remedy.ts';
import { getEngineSpecs } from '../../../main/host/engines/specs.ts';
import { registry } from '../../../main/host/services/registry.ts';
import type { PackageManager } from '../../../services/contracts/control/engine-spec.ts';
import type { EngineState } from '../../../services/contracts/control/engines.ts';
import { silentLog } from '../../support/database-location.ts';

const specs = getEngineSpecs(registry);

describe('package manager of a Linux distribution', () => {
  it.each([
    ['Debian', 'ID=debian\nVERSION_ID="13"\n', 'apt-get'],
    ['Linux Mint', 'NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n', 'apt-get'],
    ['Raspberry Pi OS', "ID=raspbian\nID_LIKE='debian'\n", 'apt-get'],
    ['Fedora', 'ID=fedora\n', 'dnf'],
    ['Rocky Linux', 'ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'dnf'],
    ['Arch Linux', 'ID=arch\n', 'pacman'],
    ['Manjaro', 'ID=manjaro\nID_LIKE=arch\n', 'pacman'],
    ['openSUSE Tumbleweed', 'ID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n', 'zypper'],
    ['SUSE Linux Enterprise', 'ID="sles"\nID_LIKE="suse"\n', 'zypper'],
    ['Alpine Linux', 'ID=alpine\n', 'apk'],
    ['NixOS', 'ID=nixos\n', undefined],
    ['a system without the file', '', undefined],
    ['a name of an object method', 'ID=constructor\n', undefined],
  ])('is found for %s', (_name, osRelease, manager) => {
    expect(findPackageManager(osRelease)).toBe(manager);
  });
});

describe('missing Git on Linux', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'package-manager-'));
    vi.stubEnv('PATH', folder);
    vi.stubEnv('HOME', folder);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });

  async function getGit(packageManager: PackageManager | undefined): Promise<EngineState> {
    const engines = openEngines({
      folder,
      // Hides the Git of this computer, which the search finds outside of the PATH.
      specs: specs.map((spec) => (spec.name === 'git' ? { ...spec, location: {}, name: 'git-of-no-one' } : spec)),
      paths: () => ({}),
      log: silentLog,
      computer: { platform: 'linux', arch: 'x64', packageManager },
    });
    return await engines.state('git-of-no-one');
  }

  it.each([
    ['apt-get', 'apt-get install git'],
    ['dnf', 'dnf install git'],
    ['pacman', 'pacman -S git'],
    ['zypper', 'zypper install git'],
    ['apk', 'apk add git'],
  ] as const)('names the command of %s', async (manager, command) => {
    const state = await getGit(manager);
    expect(state).toMatchObject({ path: null, byHand: { command, asRoot: true } });
    expect(state.remedy).toContain(`(“${command}” as root)`);
  });

  it('names no command of an unknown distribution', async () => {
    const state = await getGit(undefined);
    expect(state.byHand).toBeNull();
    expect(state.remedy).toMatch(/with your system’s package manager\.$/);
  });

  it('is not offered for installation where Homeport cannot run the package manager', async () => {
    expect((await getGit('apt-get')).installable).toBe(true);
    expect((await getGit('pacman')).installable).toBe(false);
    expect((await getGit(undefined)).installable).toBe(false);
  });
});

it('uses the package names of the distribution', () => {
  const ffmpeg = specs.find(({ name }) => name === 'ffmpeg') ?? { sources: [] };
  const getCommand = (packageManager: PackageManager) =>
    getInstallCommand(ffmpeg, { platform: 'linux', arch: 'x64', packageManager })?.command;
  expect(getCommand('dnf')).toBe('dnf install ffmpeg-free');
  expect(getCommand('pacman')).toBe('pacman -S ffmpeg');
});
