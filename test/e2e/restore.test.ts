import * as commandLineMessages from '#messages/command-line';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BackupFile, SetAsideData } from '../../services/contracts/control/backups.ts';
import { api } from '../support/api.ts';
import { startHostProcess, type HostProcess } from '../support/host-process.ts';

const registry = new URL('../../main/host/services/registry.ts', import.meta.url).href;

/** Notify starts after the file `hold` is deleted, and does not stop while a file `stuck` exists. */
const wilful = `
import { existsSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
if (isMainThread) {
  const { registry } = await import('${registry}');
  const notify = registry.find(({ id }) => id === 'notify');
  const { create } = notify;
  const until = (isSo) => new Promise((resolve) => {
    const timer = setInterval(() => isSo() && (clearInterval(timer), resolve()), 20);
  });
  notify.create = async (...given) => {
    const service = await create(...given);
    const [start, stop] = [service.start.bind(service), service[Symbol.asyncDispose].bind(service)];
    service.start = async () => {
      await until(() => !existsSync(process.env.WILFUL + '/hold'));
      await start();
    };
    service[Symbol.asyncDispose] = async () => {
      await until(() => !existsSync(process.env.WILFUL + '/stuck'));
      await stop();
    };
    return service;
  };
  console.log('a process began');
}`;

const waitOptions = { timeout: 60_000, interval: 50 };

describe('restoring a backup in the running program', () => {
  let folder: string;
  let dataDir: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-restored-'));
    dataDir = join(folder, 'data');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const readyLines = (host: HostProcess): readonly string[] => host.output.filter((line) => line.startsWith('ready '));
  const ask = <Reply>(base: string, path: string, method: string, body?: unknown): Promise<Reply> =>
    api<Reply>(base, path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  /** Checks the restored data: the setting identifies the backup, and the account proves that it is complete. */
  const fetchOwner = async (base: string): Promise<string> => {
    const { sections } = await ask<{ sections: { id: string; fields: { name: string; value: unknown }[] }[] }>(
      base,
      '/api/settings',
      'GET',
    );
    const { accounts } = await ask<{ accounts: { name: string }[] }>(base, '/api/accounts', 'GET');
    const days = sections.find(({ id }) => id === 'inbox')?.fields.find(({ name }) => name === 'keepDays')?.value;
    return `${String(days)}, ${accounts.some(({ name }) => name === 'grace') ? 'with' : 'without'} grace`;
  };
  /** Old data in a backup, new ones in the folder. */
  const prepare = async (base: string): Promise<string> => {
    await ask(base, '/api/settings/inbox', 'PATCH', { keepDays: 11 });
    const { name } = await ask<BackupFile>(base, '/api/backups', 'POST');
    await ask(base, '/api/settings/inbox', 'PATCH', { keepDays: 22 });
    await ask(base, '/api/accounts', 'POST', { name: 'grace', role: 'user', password: 'nanoseconds of wire' });
    return `/api/backups/${name}/restore`;
  };

  it('restarts with the restored data in the same process and stops normally', async () => {
    await using host = await startHostProcess(dataDir);
    const path = await prepare(host.url('control'));
    await ask(host.url('control'), path, 'POST', { confirm: 'restore' });
    await vi.waitFor(() => expect(readyLines(host)).toHaveLength(2), waitOptions);
    const base = / control=(\S+)/.exec(readyLines(host)[1] ?? '')?.[1] ?? '';
    expect(await fetchOwner(base)).toBe('11, without grace');
    expect(await host.stop()).toBe(0);
  });

  /** Runs the sources, whose registry can be changed from outside. */
  const wilfully = (): Record<string, string> => ({
    NODE_ENV: 'development',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(wilful)}`,
    WILFUL: folder,
    HOMEPORT_STOP_TIMEOUT: '1',
  });
  /** Returns the address of the page as soon as it answers, which is earlier than the `ready` line. */
  const page = (former?: string): Promise<string> =>
    vi.waitFor(async () => {
      const { url } = JSON.parse(readFileSync(join(dataDir, 'running.json'), 'utf8')) as { url: string };
      expect(url).not.toBe(former);
      expect((await fetch(`${url}/api/session`)).status).toBeLessThan(500);
      return url;
    }, waitOptions);

  it('undoes the restore while the start is still in progress', async () => {
    await using host = await startHostProcess(dataDir, { environment: wilfully() });
    const path = await prepare(host.url('control'));
    writeFileSync(join(folder, 'hold'), '');
    await ask(host.url('control'), path, 'POST', { confirm: 'restore' });
    const base = await page(host.url('control'));
    expect(readyLines(host)).toHaveLength(1);
    const { setAside } = await ask<{ setAside: SetAsideData[] }>(base, '/api/backups', 'GET');
    await ask(base, `/api/backups/set-aside/${setAside[0]?.name ?? ''}/put-back`, 'POST');
    rmSync(join(folder, 'hold'));
    await vi.waitFor(() => expect(readyLines(host)).toHaveLength(3), waitOptions);
    expect(await fetchOwner(await page(base))).toBe('22, with grace');
    expect(await host.stop()).toBe(0);
  });

  it('restarts even if the first start has not finished', async () => {
    writeFileSync(join(folder, 'hold'), '');
    const starting = startHostProcess(dataDir, { environment: wilfully() });
    const base = await page();
    await ask(base, await prepare(base), 'POST', { confirm: 'restore' });
    rmSync(join(folder, 'hold'));
    await using host = await starting;
    await vi.waitFor(() => expect(readyLines(host)).toHaveLength(2), waitOptions);
    expect(await fetchOwner(await page(base))).toBe('11, without grace');
    expect(await host.stop()).toBe(0);
  });

  it.skipIf(process.platform === 'win32')('ends a service that does not stop', async () => {
    await using host = await startHostProcess(dataDir, { environment: wilfully() });
    const path = await prepare(host.url('control'));
    writeFileSync(join(folder, 'stuck'), '');
    await ask(host.url('control'), path, 'POST', { confirm: 'restore' });
    await vi.waitFor(() => expect(readyLines(host)).toHaveLength(2), waitOptions);
    expect(host.output.filter((line) => line === 'a process began')).toHaveLength(2);
    expect(host.errors).toContain(commandLineMessages.restarting({ reason: 'notify didn’t stop in time.' }));
    rmSync(join(folder, 'stuck'));
    expect(await fetchOwner(await page(host.url('control')))).toBe('11, without grace');
    expect(await host.stop()).toBe(0);
  });

  it('has either the old or the new data after a kill at any moment', async () => {
    let path = '';
    for (const wait of [0, 30, 120]) {
      await using host = await startHostProcess(dataDir);
      const base = host.url('control');
      if (path === '') path = await prepare(base);
      expect(['11, without grace', '22, with grace']).toContain(await fetchOwner(base));
      const restoreRequest = ask(base, path, 'POST', { confirm: 'restore' }).catch(() => undefined);
      await pause(wait);
      await host.kill();
      await restoreRequest;
    }
    await using host = await startHostProcess(dataDir);
    expect(['11, without grace', '22, with grace']).toContain(await fetchOwner(host.url('control')));
    expect(readdirSync(dataDir).filter((name) => ['.restoring', '.returning'].includes(name))).toEqual([]);
  });
});
