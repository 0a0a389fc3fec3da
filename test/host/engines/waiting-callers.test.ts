import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openEngines, type HostEngines } from '../../../main/host/engines/engines.ts';
import { EngineInstaller } from '../../../main/host/engines/installer.ts';
import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import { silentLog } from '../../support/database-location.ts';
import { needs } from '../../support/requirements.ts';

needs('POSIX shell');

let folder: string;
/** Installations in their order, each with the function that completes it. */
let installations: { readonly name: string; complete(this: void): void }[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waiting-'));
  mkdirSync(join(folder, 'bin'));
  vi.stubEnv('PATH', `${join(folder, 'bin')}:/bin`);
  installations = [];
  vi.spyOn(EngineInstaller.prototype, 'install').mockImplementation(async ({ name }, { find }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    installations.push({
      name,
      complete() {
        addProgram(name);
        resolve();
      },
    });
    await promise;
    return await find();
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function addProgram(name: string): void {
  const path = join(folder, 'bin', name);
  writeFileSync(path, `#!/bin/sh\necho '${name} 1.0'\n`);
  chmodSync(path, 0o755);
}

function open(): HostEngines {
  const specs = ['anchor', 'beacon'].map((name): EngineSpec => ({
    name,
    title: name,
    purpose: '',
    absence: '',
    removal: '',
    version: { arguments: ['--version'], pattern: /^\w+ (\d\S*)$/ },
    sources: [{ from: 'archive', version: '1.0', files: { 'linux-x64': [] } }],
  }));
  const computer = { platform: 'linux', arch: 'x64' } as const;
  const root = join(folder, 'engines');
  return openEngines({ folder: root, specs, paths: () => ({}), log: silentLog, computer, installsMissing: true });
}

/** Waits as a service does and returns the path that it finds then. */
async function waitFor(engines: HostEngines, name: string): Promise<string | null> {
  await engines.settled(name);
  return (await engines.find(name)).path;
}

const startedNames = (): readonly string[] => installations.map(({ name }) => name);

describe('caller that waits for an engine', () => {
  it('waits for its installation while the engines of another service are requested', async () => {
    const engines = open();
    const anchor = waitFor(engines, 'anchor');
    const first = engines.installMissing(['anchor']);
    // The search for the first engine is not complete yet.
    const second = engines.installMissing(['beacon']);
    await vi.waitFor(() => expect(startedNames().toSorted()).toEqual(['anchor', 'beacon']));
    for (const { complete } of installations) complete();
    expect(await anchor).toBe(join(folder, 'bin', 'anchor'));
    await Promise.all([first, second]);
  });

  it('waits for the engine of a service that is enabled while installations run', async () => {
    const engines = open();
    const first = engines.installMissing(['anchor']);
    await vi.waitFor(() => expect(startedNames()).toEqual(['anchor']));
    const second = engines.installMissing(['beacon']);
    const beacon = waitFor(engines, 'beacon');
    await vi.waitFor(() => expect(startedNames()).toEqual(['anchor', 'beacon']));
    installations[1]?.complete();
    expect(await beacon).toBe(join(folder, 'bin', 'beacon'));
    installations[0]?.complete();
    await Promise.all([first, second]);
  });

  it('shares one installation of an engine that two services need', async () => {
    const engines = open();
    const ended: string[] = [];
    const first = engines.installMissing(['anchor']).then(() => ended.push('first'));
    await vi.waitFor(() => expect(startedNames()).toEqual(['anchor']));
    const second = engines.installMissing(['anchor', 'beacon']).then(() => ended.push('second'));
    await vi.waitFor(() => expect(startedNames()).toEqual(['anchor', 'beacon']));
    installations[1]?.complete();
    expect(await waitFor(engines, 'beacon')).toBe(join(folder, 'bin', 'beacon'));
    expect(ended).toEqual([]);
    installations[0]?.complete();
    await Promise.all([first, second]);
    expect(startedNames()).toEqual(['anchor', 'beacon']);
  });

  it('continues when no service needs the engine', async () => {
    const engines = open();
    const beacon = waitFor(engines, 'beacon');
    const first = engines.installMissing(['anchor']);
    expect(await beacon).toBeNull();
    await vi.waitFor(() => expect(startedNames()).toEqual(['anchor']));
    installations[0]?.complete();
    await first;
  });

  it('joins an installation that a caller starts when the previous one has just ended', async () => {
    const engines = open();
    const another = engines.install('anchor').then(() => engines.install('anchor'));
    const joined = engines.install('anchor');
    await vi.waitFor(() => expect(installations).toHaveLength(1));
    installations[0]?.complete();
    await joined;
    await vi.waitFor(() => expect(installations).toHaveLength(2));
    await expect(engines.remove('anchor')).rejects.toMatchObject({ code: 'engines.busy' });
    installations[1]?.complete();
    await another;
  });
});
