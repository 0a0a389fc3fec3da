import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openEngines } from '../../../main/host/engines/engines.ts';
import { getEngineSpecs } from '../../../main/host/engines/specs.ts';
import { registry } from '../../../main/host/services/registry.ts';
import { getOffer, isNewest } from '../../../renderer/src/pages/engines/labels.ts';
import { isOlderVersion } from '../../../services/contracts/control/engine-version.ts';
import type { EngineState } from '../../../services/contracts/control/engines.ts';
import { silentLog } from '../../support/database-location.ts';
import { needs } from '../../support/requirements.ts';

needs('POSIX shell');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'engine-offers-'));
  mkdirSync(join(folder, 'bin'));
  vi.stubEnv('PATH', `${join(folder, 'bin')}:/bin`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function write(path: string, versionLine: string): void {
  writeFileSync(path, `#!/bin/sh\necho '${versionLine}'\n`);
  chmodSync(path, 0o755);
}

/** Installs a program into the system. */
function addProgram(name: string, versionLine: string): void {
  write(join(folder, 'bin', name), versionLine);
}

/** Installs an engine into the data folder. */
function addInstalled(name: string, versionLine: string): void {
  const base = join(folder, 'engines', name);
  mkdirSync(join(base, 'current-version'), { recursive: true });
  write(join(base, 'current-version', name), versionLine);
  writeFileSync(join(base, 'current'), JSON.stringify({ current: 'current-version', previous: null }));
}

async function getState(name: string): Promise<EngineState> {
  const engines = openEngines({
    folder: join(folder, 'engines'),
    specs: getEngineSpecs(registry),
    paths: () => ({}),
    log: silentLog,
    computer: { platform: 'linux', arch: 'x64' },
  });
  return await engines.state(name);
}

describe('offer of an update', () => {
  it.each([
    ['ffmpeg', 'ffmpeg version 6.1.1-3ubuntu5 Copyright (c)', '6.1.1-3ubuntu5'],
    ['git', 'git version 2.43.0', '2.43.0'],
    ['rclone', 'rclone v1.74.0', '1.74.0'],
    ['deno', 'deno 2.4.0 (stable)', '2.4.0'],
    ['apprise', 'Apprise v1.9.0', '1.9.0'],
  ])('leaves %s of the system to the package manager', async (name, versionLine, version) => {
    addProgram(name, versionLine);
    const state = await getState(name);
    expect(state).toMatchObject({ source: 'system', version, offered: null });
    expect(getOffer(state)).toBe('');
    expect(isNewest(state)).toBeUndefined();
  });

  it('replaces an old yt-dlp of the system, which stops working', async () => {
    addProgram('yt-dlp', '2025.01.01');
    const state = await getState('yt-dlp');
    expect(state).toMatchObject({ source: 'system', offered: '2026.10.26' });
    expect(getOffer(state)).toBe('update');
  });

  it('does not replace a newer version by an older one', async () => {
    addProgram('yt-dlp', '2027.01.01');
    const state = await getState('yt-dlp');
    expect(getOffer(state)).toBe('');
    expect(isNewest(state)).toBe(true);
  });

  it('updates an engine that Homeport installed', async () => {
    addInstalled('ffmpeg', 'ffmpeg version n8.1-20-g0123456789 Copyright (c)');
    const state = await getState('ffmpeg');
    expect(state).toMatchObject({ source: 'data', offered: '9.0.2' });
    expect(getOffer(state)).toBe('update');
  });

  it.each(['9.0.2', '9.0.2-https://www.martin-riedl.de', 'n9.0.2-17-g2a571b6068-20260930'])(
    'recognizes the build %s of the offered release',
    async (version) => {
      addInstalled('ffmpeg', `ffmpeg version ${version} Copyright (c)`);
      const state = await getState('ffmpeg');
      expect(state).toMatchObject({ version, offered: '9.0.2' });
      expect(getOffer(state)).toBe('');
      expect(isNewest(state)).toBe(true);
    },
  );
});

describe('comparison of versions', () => {
  it.each([
    ['2.9', '2.10', true],
    ['2.10', '2.9', false],
    ['2.9', '2.9.0', false],
    ['2.9', '2.9.1', true],
    ['2.56.0.windows.1', '2.56.0', false],
    ['n8.1-20-gabc', '9.0.2', true],
    ['N-118193-g5f38c82536', '9.0.2', false],
    ['git', '9.0.2', false],
  ])('orders %s and %s', (version, other, isOlder) => {
    expect(isOlderVersion(version, other)).toBe(isOlder);
  });
});
