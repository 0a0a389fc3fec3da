import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BackupFile } from '../../../services/contracts/control/backups.ts';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { admin, adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';

const dayMs = 86_400_000;

describe('backups', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-backups-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const open = (more: { environment?: Record<string, string>; clock?: ReturnType<typeof createFakeClock> } = {}) =>
    openTestHost({
      services: [inbox, control],
      environment: { HOMEPORT_BACKUP_FOLDER: folder, ...more.environment },
      ...(more.clock === undefined ? {} : { clock: more.clock }),
    });
  const list = async (host: TestHost): Promise<readonly BackupFile[]> =>
    (await api<{ backups: BackupFile[] }>(host.url('control'), '/api/backups')).backups;

  it('creates, lists, downloads and deletes backups while services run', async () => {
    await using host = await open();
    const base = host.url('control');
    const created = await api<BackupFile>(base, '/api/backups', { method: 'POST' });
    const second = await api<BackupFile>(base, '/api/backups', { method: 'POST' });
    expect(second.name).not.toBe(created.name);
    expect((await list(host)).map(({ name }) => name).sort()).toEqual([second.name, created.name].sort());
    const file = await fetch(`${base}/api/backups/${created.name}/file`, {
      headers: { Authorization: adminAuthorization },
    });
    const bytes = Buffer.from(await file.arrayBuffer());
    expect(bytes.length).toBe(created.bytes);
    expect(file.headers.get('content-disposition')).toContain(`attachment; filename="${created.name}"`);
    expect(gunzipSync(bytes).includes('inbox/db.sqlite')).toBe(true);
    await api(base, `/api/backups/${created.name}`, { method: 'DELETE' });
    expect(readdirSync(folder)).toEqual([second.name]);
  });

  it('reports why a backup could not be written', async () => {
    await using host = await open();
    mkdirSync(join(host.dataDir, 'other'));
    writeFileSync(join(host.dataDir, 'other', 'db.sqlite'), 'no database at all, but long enough to be read as one');
    const refused = await fetch(`${host.url('control')}/api/backups`, {
      method: 'POST',
      headers: { Authorization: adminAuthorization },
    });
    expect(refused.status).toBe(500);
    expect(await refused.json()).toMatchObject({
      error: { code: 'backup.source', detail: expect.stringContaining('other/db.sqlite is damaged') as string },
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('requires an administrator and rejects names outside of the folder', async () => {
    await using host = await open();
    const base = host.url('control');
    writeFileSync(join(folder, 'notes.txt'), 'private');
    const created = await api<BackupFile>(base, '/api/backups', { method: 'POST' });
    const { session } = await api<{ session: string }>(base, '/api/session', {
      method: 'POST',
      body: JSON.stringify(admin),
    });
    const linksResponse = await fetch(`${base}/api/links`, {
      method: 'POST',
      headers: { 'Homeport-Session': session, 'Content-Type': 'application/json' },
      body: JSON.stringify({ paths: [`/api/backups/${created.name}/file`] }),
    });
    const [link = ''] = ((await linksResponse.json()) as { links: string[] }).links;
    const linked = await fetch(base + link);
    expect([linked.status, linked.headers.get('content-type')]).toEqual([200, 'application/gzip']);
    await linked.body?.cancel();
    expect((await fetch(base + link.replace('homeport-', 'homeport.'))).status).toBe(401);
    expect((await fetch(`${base}/api/backups/${created.name}/file`)).status).toBe(401);
    for (const name of ['notes.txt', '..%2F..%2Fetc%2Fpasswd', 'homeport-2026-01-01-000000.tar.gz', '%00']) {
      const response = await fetch(`${base}/api/backups/${name}/file`, {
        headers: { Authorization: adminAuthorization },
      });
      expect(response.status).toBe(404);
    }
    await expect(api(base, '/api/backups/notes.txt', { method: 'DELETE' })).rejects.toThrow('404');
    expect(await list(host)).toHaveLength(1);
  });

  it('reports why backups cannot be written', async () => {
    const target = join(folder, 'file');
    writeFileSync(target, '');
    await using host = await open({ environment: { HOMEPORT_BACKUP_FOLDER: target } });
    const answer = api(host.url('control'), '/api/backups', { method: 'POST' });
    await expect(answer).rejects.toThrow(/507|ENOTDIR|500/);
  });

  it('creates scheduled backups and deletes the oldest ones', async () => {
    const clock = createFakeClock(Date.now());
    await using host = await open({
      clock,
      environment: { HOMEPORT_BACKUP_EVERY_DAYS: '1', HOMEPORT_BACKUP_KEEP: '2' },
    });
    for (const age of [5, 4, 3]) {
      const file = join(folder, `homeport-2026-01-0${String(age)}-000000.tar.gz`);
      writeFileSync(file, 'old');
      utimesSync(file, new Date(clock.now() - age * dayMs), new Date(clock.now() - age * dayMs));
    }
    clock.advance(61_000);
    await expect.poll(async () => (await list(host)).length, { timeout: 10_000 }).toBe(2);
    expect((await list(host)).at(-1)?.name).toBe('homeport-2026-01-03-000000.tar.gz');
    clock.advance(2 * 3_600_000);
    expect(await list(host)).toHaveLength(2);
  });

  it('uses one creation time in name, list, file and archive', async () => {
    const clock = createFakeClock(Date.parse('2026-02-03T04:05:06.789Z'));
    await using host = await open({ clock });
    const base = host.url('control');
    const created = await api<BackupFile>(base, '/api/backups', { method: 'POST' });
    expect(created).toMatchObject({ name: 'homeport-2026-02-03-040506.tar.gz', createdAt: clock.now() });
    expect(await list(host)).toEqual([created]);
    const archive = gunzipSync(readFileSync(join(folder, created.name)));
    expect(archive.includes('"createdAt":"2026-02-03T04:05:06.789Z"')).toBe(true);
  });

  it('keeps unrelated files in the backup folder', async () => {
    await using host = await open();
    mkdirSync(join(folder, 'photos'));
    writeFileSync(join(folder, 'other.tar.gz'), '');
    expect(await list(host)).toEqual([]);
  });
});

it('includes versions, services, changed settings and errors in the report, but no secrets', async () => {
  await using host = await openTestHost({
    services: [inbox, notify, control],
    environment: { HOMEPORT_QUIET_HOURS: '["22:00-07:00"]', HOMEPORT_STOP_TIMEOUT: '7' },
  });
  host.host.log.error('the disk is full', { path: '/srv' });
  const { text } = await api<{ text: string }>(host.url('control'), '/api/report');
  expect(text).toMatch(/^Homeport \d+\.\d+\.\d+, Node 24/);
  expect(text).toContain('inbox: up');
  expect(text).toContain('host.stopTimeout = 7 (by HOMEPORT_STOP_TIMEOUT)');
  expect(text).toContain('the disk is full');
  expect(text).not.toContain('correct horse battery');
});
