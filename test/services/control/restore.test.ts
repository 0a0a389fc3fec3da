import fs, { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { writeBackup } from '../../../main/host/backup/write.ts';
import type { BackupContents, BackupFile, SetAsideData } from '../../../services/contracts/control/backups.ts';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { api } from '../../support/api.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';

describe('a restore from the pages', () => {
  let folder: string;
  let dataDir: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-restore-'));
    dataDir = join(folder, 'data');
    mkdirSync(dataDir);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** A host, and what resolves when it wants to be started anew. */
  const open = async (): Promise<{ host: TestHost; asked: Promise<void> }> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const host = await openTestHost({
      ...{ services: [inbox, control], dataDir, restartHost: resolve },
      environment: { HOMEPORT_BACKUP_FOLDER: join(folder, 'backups') },
    });
    return { host, asked: promise };
  };
  const ask = <Reply>(host: TestHost, path: string, method = 'GET', body?: unknown): Promise<Reply> =>
    api<Reply>(host.url('control'), path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const keepDays = async (host: TestHost): Promise<unknown> => {
    const { sections } = await ask<{ sections: { id: string; fields: { name: string; value: unknown }[] }[] }>(
      host,
      '/api/settings',
    );
    return sections.find(({ id }) => id === 'inbox')?.fields.find(({ name }) => name === 'keepDays')?.value;
  };
  const setAside = async (host: TestHost): Promise<readonly SetAsideData[]> =>
    (await ask<{ setAside: SetAsideData[] }>(host, '/api/backups')).setAside;

  it('shows what is in a backup, starts anew with it, and can be taken back and cleared away', async () => {
    const before = await open();
    await ask(before.host, '/api/settings/inbox', 'PATCH', { keepDays: 11 });
    const { name } = await ask<BackupFile>(before.host, '/api/backups', 'POST');
    const contents = await ask<BackupContents>(before.host, `/api/backups/${name}/contents`);
    expect(contents.tables).toBe('here');
    expect(Math.abs(Date.now() - contents.createdAt)).toBeLessThan(600_000);
    const parts = contents.parts.map(({ service }) => service);
    expect(parts).toEqual(expect.arrayContaining(['host', 'inbox']));
    expect(contents.parts.every(({ files, bytes }) => files > 0 && bytes > 0)).toBe(true);
    await ask(before.host, '/api/settings/inbox', 'PATCH', { keepDays: 22 });
    await ask(before.host, `/api/backups/${name}/restore`, 'POST', { confirm: 'restore' });
    await before.asked;
    await before.host[Symbol.asyncDispose]();

    const restored = await open();
    expect(await keepDays(restored.host)).toBe(11);
    const [replaced] = await setAside(restored.host);
    expect(Math.abs(Date.now() - (replaced?.createdAt ?? 0))).toBeLessThan(600_000);
    await ask(restored.host, `/api/backups/set-aside/${replaced?.name ?? ''}/put-back`, 'POST');
    await restored.asked;
    await restored.host[Symbol.asyncDispose]();

    const back = await open();
    expect(await keepDays(back.host)).toBe(22);
    const [other] = await setAside(back.host);
    await ask(back.host, `/api/backups/set-aside/${other?.name ?? ''}`, 'DELETE');
    expect(await setAside(back.host)).toEqual([]);
    expect(readdirSync(dataDir).filter((each) => each.startsWith('.before'))).toEqual([]);
    await back.host[Symbol.asyncDispose]();
  });

  it('brings a backup to another computer, whose data it replaces', async () => {
    const before = await open();
    await ask(before.host, '/api/settings/inbox', 'PATCH', { keepDays: 11 });
    const made = await ask<BackupFile>(before.host, '/api/backups', 'POST');
    const bytes = readFileSync(join(folder, 'backups', made.name));
    await before.host[Symbol.asyncDispose]();

    rmSync(join(folder, 'backups'), { recursive: true });
    rmSync(dataDir, { recursive: true });
    mkdirSync(dataDir);
    const fresh = await open();
    const send = (body: Uint8Array<ArrayBuffer>, signal?: AbortSignal): Promise<Response> =>
      fetch(`${fresh.host.url('control')}/api/backups/file`, {
        ...{ method: 'POST', body, ...(signal && { signal }) },
        headers: { Authorization: adminAuthorization, 'Content-Type': 'application/octet-stream' },
      });
    const damaged = Buffer.from(bytes);
    damaged.fill(0, bytes.length >> 1, (bytes.length >> 1) + 64);
    for (const body of [damaged, bytes.subarray(0, bytes.length - 100), Buffer.from('no archive'), Buffer.alloc(0)]) {
      const refused = await send(new Uint8Array(body));
      expect([refused.status, await refused.json()]).toMatchObject([422, { error: { code: 'backup.damaged' } }]);
    }
    expect(readdirSync(join(folder, 'backups'))).toEqual([]);
    const sent = await send(new Uint8Array(bytes));
    const brought = (await sent.json()) as BackupFile;
    expect(brought).toMatchObject({ name: made.name, bytes: made.bytes });
    expect(Math.abs(brought.createdAt - made.createdAt)).toBeLessThan(60_000);
    expect(readFileSync(join(folder, 'backups', brought.name)).equals(bytes)).toBe(true);
    // The same one again, and two at once, take no other one's place.
    const more = await Promise.all([send(new Uint8Array(bytes)), send(new Uint8Array(bytes))]);
    const names = await Promise.all(more.map(async (each) => ((await each.json()) as BackupFile).name));
    expect(new Set([brought.name, ...names]).size).toBe(3);
    await ask(fresh.host, `/api/backups/${brought.name}/restore`, 'POST', { confirm: 'restore' });
    await fresh.asked;
    await fresh.host[Symbol.asyncDispose]();

    const restored = await open();
    expect(await keepDays(restored.host)).toBe(11);
    await restored.host[Symbol.asyncDispose]();
  });

  it('keeps nothing of a backup whose sender went away', async () => {
    const { host } = await open();
    const way = request(`${host.url('control')}/api/backups/file`, {
      ...{ method: 'POST', headers: { Authorization: adminAuthorization, 'Content-Length': '1000000' } },
    });
    way.on('error', () => undefined);
    way.write(Buffer.alloc(100_000));
    const files = (): readonly string[] =>
      existsSync(join(folder, 'backups')) ? readdirSync(join(folder, 'backups')) : [];
    await expect.poll(files).toHaveLength(1);
    expect((await ask<{ backups: BackupFile[] }>(host, '/api/backups')).backups).toEqual([]);
    way.destroy();
    await expect.poll(files).toEqual([]);
    await host[Symbol.asyncDispose]();
  });

  /** As a restore leaves what it has replaced. */
  const replaced = '.before-restore-2026-01-01T00-00-00-000Z';
  const replace = (): void => {
    mkdirSync(join(dataDir, replaced, 'mail'), { recursive: true });
    writeFileSync(join(dataDir, replaced, 'homeport.yaml'), 'version: 1\n');
  };

  it('offers nothing that is half removed, and removes the rest at the next start', async () => {
    replace();
    const { host } = await open();
    const { rm } = fs.promises;
    fs.promises.rm = async () => {
      throw new Error('cut off');
    };
    syncBuiltinESMExports();
    try {
      await expect(ask(host, `/api/backups/set-aside/${replaced}`, 'DELETE')).rejects.toThrow('500');
    } finally {
      fs.promises.rm = rm;
      syncBuiltinESMExports();
    }
    expect(await setAside(host)).toEqual([]);
    await expect(ask(host, `/api/backups/set-aside/${replaced}/put-back`, 'POST')).rejects.toThrow('404');
    // It is no part of the data either.
    const { name } = await ask<BackupFile>(host, '/api/backups', 'POST');
    const { parts } = await ask<BackupContents>(host, `/api/backups/${name}/contents`);
    expect(parts.map(({ service }) => service).filter((each) => each.startsWith('.'))).toEqual([]);
    const leftovers = (): string[] => readdirSync(dataDir).filter((each) => each.startsWith('.removing-'));
    expect(leftovers()).toHaveLength(1);
    await host[Symbol.asyncDispose]();
    const next = await open();
    await vi.waitFor(() => expect(leftovers()).toEqual([]));
    await next.host[Symbol.asyncDispose]();
  });

  it('keeps what was set aside while a restore is under way', async () => {
    replace();
    const { host, asked } = await open();
    const { name } = await ask<BackupFile>(host, '/api/backups', 'POST');
    await ask(host, `/api/backups/${name}/restore`, 'POST', { confirm: 'restore' });
    await asked;
    await expect(ask(host, `/api/backups/set-aside/${replaced}`, 'DELETE')).rejects.toThrow('409');
    expect(readFileSync(join(dataDir, replaced, 'homeport.yaml'), 'utf8')).toBe('version: 1\n');
    await host[Symbol.asyncDispose]();
  });

  it('makes backups still after what was set aside could not come back', async () => {
    replace();
    const { host, asked } = await open();
    await using _host = host;
    // Where it would wait there is something else.
    writeFileSync(join(dataDir, '.returning'), '');
    await expect(ask(host, `/api/backups/set-aside/${replaced}/put-back`, 'POST')).rejects.toThrow('500');
    await ask(host, '/api/backups', 'POST');
    rmSync(join(dataDir, '.returning'));
    await ask(host, `/api/backups/set-aside/${replaced}/put-back`, 'POST');
    await asked;
  });

  it('keeps the data where the backup is damaged, was not confirmed or is not there', async () => {
    const { host } = await open();
    await using _host = host;
    await ask(host, '/api/settings/inbox', 'PATCH', { keepDays: 33 });
    const { name } = await ask<BackupFile>(host, '/api/backups', 'POST');
    await expect(ask(host, `/api/backups/${name}/restore`, 'POST', {})).rejects.toThrow('422');
    for (const path of ['homeport-2026-01-01-000000.tar.gz/restore', 'set-aside/..%2F..%2Fbackups/put-back']) {
      await expect(ask(host, `/api/backups/${path}`, 'POST', { confirm: 'restore' })).rejects.toThrow('404');
    }
    writeFileSync(join(folder, 'backups', name), 'no archive');
    for (const [method, path] of [
      ['GET', 'contents'],
      ['POST', 'restore'],
    ] as const) {
      const answer = await fetch(`${host.url('control')}/api/backups/${name}/${path}`, {
        method,
        headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
        ...(method === 'POST' && { body: JSON.stringify({ confirm: 'restore' }) }),
      });
      expect(answer.status).toBe(422);
      expect(await answer.json()).toMatchObject({ error: { code: 'backup.damaged' } });
    }
    expect(existingLeftovers()).toEqual([]);
    expect(await keepDays(host)).toBe(33);
    // It can still make one.
    await ask(host, '/api/backups', 'POST');
  });

  it('brings back what was there where nothing can be done with what the backup holds', async () => {
    const before = await open();
    await ask(before.host, '/api/settings/inbox', 'PATCH', { keepDays: 44 });
    const foreign = join(folder, 'foreign');
    mkdirSync(join(foreign, 'host'), { recursive: true });
    writeFileSync(join(foreign, 'vault.key'), 'the key of nobody');
    const name = 'homeport-2026-01-01-000000.tar.gz';
    mkdirSync(join(folder, 'backups'), { recursive: true });
    await writeBackup(foreign, join(folder, 'backups', name));
    await ask(before.host, `/api/backups/${name}/restore`, 'POST', { confirm: 'restore' });
    await before.asked;
    await before.host[Symbol.asyncDispose]();
    const after = await open();
    expect(await keepDays(after.host)).toBe(44);
    expect(after.host.log.join('\n')).toContain('restored data unusable');
    expect((await setAside(after.host)).length).toBe(1);
    await after.host[Symbol.asyncDispose]();
  });

  function existingLeftovers(): string[] {
    return readdirSync(dataDir).filter((each) => each.startsWith('.restoring') || each.startsWith('.before'));
  }
});
