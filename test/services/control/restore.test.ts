import * as hostProblems from '#messages/host-problems';
import fs, { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withLanguage } from '../../../messages/language.ts';
import { loadLanguage } from '../../../messages/runtime.ts';
import { writeBackup } from '../../../main/host/backup/write.ts';
import type { BackupContents, BackupFile, SetAsideData } from '../../../services/contracts/control/backups.ts';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { api } from '../../support/api.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';

describe('restore through the API', () => {
  let folder: string;
  let dataDir: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-restore-'));
    dataDir = join(folder, 'data');
    mkdirSync(dataDir);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Opens a host; `restartRequested` resolves when it requests a restart. */
  const open = async (): Promise<{ host: TestHost; restartRequested: Promise<void> }> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const host = await openTestHost({
      services: [inbox, control],
      dataDir,
      restartHost: resolve,
      environment: { HOMEPORT_BACKUP_FOLDER: join(folder, 'backups') },
    });
    return { host, restartRequested: promise };
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

  it('lists the content of a backup, restarts with it, undoes the restore and deletes the replaced data', async () => {
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
    await before.restartRequested;
    await before.host[Symbol.asyncDispose]();

    const restored = await open();
    expect(await keepDays(restored.host)).toBe(11);
    const [replaced] = await setAside(restored.host);
    expect(Math.abs(Date.now() - (replaced?.createdAt ?? 0))).toBeLessThan(600_000);
    await ask(restored.host, `/api/backups/set-aside/${replaced?.name ?? ''}/put-back`, 'POST');
    await restored.restartRequested;
    await restored.host[Symbol.asyncDispose]();

    const back = await open();
    expect(await keepDays(back.host)).toBe(22);
    const [other] = await setAside(back.host);
    await ask(back.host, `/api/backups/set-aside/${other?.name ?? ''}`, 'DELETE');
    expect(await setAside(back.host)).toEqual([]);
    expect(readdirSync(dataDir).filter((entry) => entry.startsWith('.before'))).toEqual([]);
    await back.host[Symbol.asyncDispose]();
  });

  it('replaces the data of another computer with an uploaded backup', async () => {
    const before = await open();
    await ask(before.host, '/api/settings/inbox', 'PATCH', { keepDays: 11 });
    const created = await ask<BackupFile>(before.host, '/api/backups', 'POST');
    const bytes = readFileSync(join(folder, 'backups', created.name));
    await before.host[Symbol.asyncDispose]();

    rmSync(join(folder, 'backups'), { recursive: true });
    rmSync(dataDir, { recursive: true });
    mkdirSync(dataDir);
    const emptyHost = await open();
    const send = (body: Uint8Array<ArrayBuffer>, signal?: AbortSignal): Promise<Response> =>
      fetch(`${emptyHost.host.url('control')}/api/backups/file`, {
        method: 'POST',
        body,
        ...(signal && { signal }),
        headers: {
          Authorization: adminAuthorization,
          'Accept-Language': 'de',
          'Content-Type': 'application/octet-stream',
        },
      });
    await loadLanguage('de');
    const [refusal = ''] = withLanguage('de', () => hostProblems.backupDamaged({ reason: '|' })).split('|');
    const damaged = Buffer.from(bytes);
    damaged.fill(0, bytes.length >> 1, (bytes.length >> 1) + 64);
    for (const body of [damaged, bytes.subarray(0, bytes.length - 100), Buffer.from('no archive'), Buffer.alloc(0)]) {
      const refused = await send(new Uint8Array(body));
      const { error } = (await refused.json()) as { error: { code: string; detail: string } };
      expect([refused.status, error.code]).toEqual([422, 'backup.damaged']);
      expect(error.detail.startsWith(refusal)).toBe(true);
    }
    expect(readdirSync(join(folder, 'backups'))).toEqual([]);
    const uploadResponse = await send(new Uint8Array(bytes));
    const brought = (await uploadResponse.json()) as BackupFile;
    expect(brought).toMatchObject({ name: created.name, bytes: created.bytes });
    expect(Math.abs(brought.createdAt - created.createdAt)).toBeLessThan(60_000);
    expect(readFileSync(join(folder, 'backups', brought.name)).equals(bytes)).toBe(true);
    // Repeated and concurrent uploads get different names.
    const more = await Promise.all([send(new Uint8Array(bytes)), send(new Uint8Array(bytes))]);
    const names = await Promise.all(more.map(async (entry) => ((await entry.json()) as BackupFile).name));
    expect(new Set([brought.name, ...names]).size).toBe(3);
    await ask(emptyHost.host, `/api/backups/${brought.name}/restore`, 'POST', { confirm: 'restore' });
    await emptyHost.restartRequested;
    await emptyHost.host[Symbol.asyncDispose]();

    const restored = await open();
    expect(await keepDays(restored.host)).toBe(11);
    await restored.host[Symbol.asyncDispose]();
  });

  it('discards an upload whose connection ends early', async () => {
    const { host } = await open();
    const upload = request(`${host.url('control')}/api/backups/file`, {
      method: 'POST',
      headers: { Authorization: adminAuthorization, 'Content-Length': '1000000' },
    });
    upload.on('error', () => undefined);
    upload.write(Buffer.alloc(100_000));
    const files = (): readonly string[] =>
      existsSync(join(folder, 'backups')) ? readdirSync(join(folder, 'backups')) : [];
    await expect.poll(files).toHaveLength(1);
    expect((await ask<{ backups: BackupFile[] }>(host, '/api/backups')).backups).toEqual([]);
    upload.destroy();
    await expect.poll(files).toEqual([]);
    await host[Symbol.asyncDispose]();
  });

  /** Folder as a restore leaves it for replaced data. */
  const replaced = '.before-restore-2026-01-01T00-00-00-000Z';
  const replace = (): void => {
    mkdirSync(join(dataDir, replaced, 'mail'), { recursive: true });
    writeFileSync(join(dataDir, replaced, 'homeport.yaml'), 'version: 1\n');
  };

  it('hides partially deleted data and deletes the rest at the next start', async () => {
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
    // It is not part of a backup either.
    const { name } = await ask<BackupFile>(host, '/api/backups', 'POST');
    const { parts } = await ask<BackupContents>(host, `/api/backups/${name}/contents`);
    expect(parts.map(({ service }) => service).filter((entry) => entry.startsWith('.'))).toEqual([]);
    const leftovers = (): string[] => readdirSync(dataDir).filter((entry) => entry.startsWith('.removing-'));
    expect(leftovers()).toHaveLength(1);
    await host[Symbol.asyncDispose]();
    const next = await open();
    await vi.waitFor(() => expect(leftovers()).toEqual([]));
    await next.host[Symbol.asyncDispose]();
  });

  it('keeps replaced data while a restore is in progress', async () => {
    replace();
    const { host, restartRequested } = await open();
    const { name } = await ask<BackupFile>(host, '/api/backups', 'POST');
    await ask(host, `/api/backups/${name}/restore`, 'POST', { confirm: 'restore' });
    await restartRequested;
    await expect(ask(host, `/api/backups/set-aside/${replaced}`, 'DELETE')).rejects.toThrow('409');
    expect(readFileSync(join(dataDir, replaced, 'homeport.yaml'), 'utf8')).toBe('version: 1\n');
    await host[Symbol.asyncDispose]();
  });

  it('creates backups after replaced data could not be restored', async () => {
    replace();
    const { host, restartRequested } = await open();
    await using _host = host;
    // Blocks the path that is needed.
    writeFileSync(join(dataDir, '.returning'), '');
    await expect(ask(host, `/api/backups/set-aside/${replaced}/put-back`, 'POST')).rejects.toThrow('500');
    await ask(host, '/api/backups', 'POST');
    rmSync(join(dataDir, '.returning'));
    await ask(host, `/api/backups/set-aside/${replaced}/put-back`, 'POST');
    await restartRequested;
  });

  it('keeps the data when the backup is damaged, unconfirmed or missing', async () => {
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
      const response = await fetch(`${host.url('control')}/api/backups/${name}/${path}`, {
        method,
        headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
        ...(method === 'POST' && { body: JSON.stringify({ confirm: 'restore' }) }),
      });
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ error: { code: 'backup.damaged' } });
    }
    expect(existingLeftovers()).toEqual([]);
    expect(await keepDays(host)).toBe(33);
    // Backups can still be created.
    await ask(host, '/api/backups', 'POST');
  });

  it('puts back the previous data when the services cannot start with the backup', async () => {
    const before = await open();
    await ask(before.host, '/api/settings/inbox', 'PATCH', { keepDays: 44 });
    const foreign = join(folder, 'foreign');
    mkdirSync(join(foreign, 'host'), { recursive: true });
    writeFileSync(join(foreign, 'vault.key'), 'the key of nobody');
    const name = 'homeport-2026-01-01-000000.tar.gz';
    mkdirSync(join(folder, 'backups'), { recursive: true });
    await writeBackup(foreign, join(folder, 'backups', name));
    await ask(before.host, `/api/backups/${name}/restore`, 'POST', { confirm: 'restore' });
    await before.restartRequested;
    await before.host[Symbol.asyncDispose]();
    const after = await open();
    expect(await keepDays(after.host)).toBe(44);
    expect(after.host.log.join('\n')).toContain('restored data unusable');
    expect((await setAside(after.host)).length).toBe(1);
    await after.host[Symbol.asyncDispose]();
  });

  function existingLeftovers(): string[] {
    return readdirSync(dataDir).filter((entry) => entry.startsWith('.restoring') || entry.startsWith('.before'));
  }
});
