import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../main/host/runtime/clock.ts';
import { api, inbox } from '../support/api.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';

/**
 * Creates the data folder of the version before secrets were sealed: databases as text, with secrets that end in
 * `-secret`.
 */
const sample = fileURLToPath(new URL('../fixtures/data-folder-plain-secrets', import.meta.url));
const secret = /[a-z]+-(?:path|query|token|password)-secret/g;

let dataDir: string;
let host: TestHost;
const base = (): string => host.url('control');

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'homeport-upgrade-'));
  for (const file of ['homeport.yaml', 'vault.key']) copyFileSync(join(sample, file), join(dataDir, file));
  for (const service of ['host', 'notify', 'downloads']) {
    mkdirSync(join(dataDir, service));
    using database = new DatabaseSync(join(dataDir, service, 'db.sqlite'));
    database.exec(readFileSync(join(sample, `${service}.sql`), 'utf8'));
  }
  copyFileSync(join(sample, 'vault.check'), join(dataDir, 'host', 'vault.check'));
  expect(listStoredFiles()).toContain('json-path-secret');
  expect(listStoredFiles()).toContain('refused-token-secret');
  expect(listStoredFiles()).toContain('feed-token-secret');
  // No administrator is made: the one of the folder signs in.
  host = await openTestHost({ dataDir });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Returns every word that ends in `-secret` in a table row or in the settings. */
function listStoredFiles(): string[] {
  const texts = [readFileSync(join(dataDir, 'homeport.yaml'), 'utf8')];
  for (const service of ['notify', 'downloads']) {
    using database = new DatabaseSync(join(dataDir, service, 'db.sqlite'), { readOnly: true });
    const tables = database.prepare(`select name from sqlite_master where type = 'table'`).all();
    for (const { name } of tables)
      texts.push(JSON.stringify(database.prepare(`select * from "${String(name)}"`).all()));
  }
  return [...new Set(texts.flatMap((text) => text.match(secret) ?? []))];
}

it('opens an old data folder and seals its secrets', async () => {
  expect(host.host.failures()).toEqual({});
  expect(host.host.configProblems()).toEqual([]);
  await vi.waitFor(() => expect(listStoredFiles()).toEqual([]), { timeout: 30_000, interval: 50 });
});

it('shows earlier data and keeps it working', async () => {
  const { notices } = await api<any>(base(), '/api/notify/notices');
  expect(notices[0].deliveries.map(({ url }: { url: string }) => url)).toEqual([
    expect.stringMatching(/^json:\/\/ada:\*\*\*\*@127\.0\.0\.1:9\/json-path-secret\?/),
    expect.stringMatching(/^xml:\/\/127\.0\.0\.1:9\/xml-path-secret/),
  ]);
  const { keys } = await api<any>(base(), '/api/notify/keys');
  expect(keys.find(({ key }: { key: string }) => key === 'k').destinations).toHaveLength(2);
  const settings = JSON.stringify(await api(base(), '/api/settings'));
  expect(settings).toContain('"password":{"set":true}');
  expect(settings).not.toMatch(secret);

  const { history } = await api<any>(base(), '/api/downloads');
  expect(history.map(({ url }: { url: string }) => url).toSorted()).toEqual([
    expect.stringMatching(/^http:\/\/127\.0\.0\.1:9\/refused\.mp4\?id=7&token=~[0-9a-f]{12}$/),
    expect.stringMatching(/^http:\/\/video\.example\/a\.mp4\?id=8&token=~[0-9a-f]{12}$/),
  ]);
  const { subscriptions } = await api<any>(base(), '/api/downloads/subscriptions');
  expect(subscriptions[0].url).toMatch(/^https:\/\/feeds\.example\/rss\?list=5&token=~[0-9a-f]{12}$/);
  expect(JSON.stringify({ history, subscriptions })).not.toMatch(secret);
});

describe('a data folder with inbox jobs and data of each service', () => {
  const folder = fileURLToPath(new URL('../fixtures/data-folder-inbox-by-jobs', import.meta.url));
  /** Time of the folder's creation: messages expire, and a scheduled message must still be in the future. */
  const writtenAt = Date.UTC(2026, 10, 22, 20, 31);
  const shift = Date.now() - writtenAt;
  const clock = { ...systemClock, now: () => systemClock.now() - shift };
  const token = 'tk_do4lx7q83jlhxkyq3yi9n4oobj494';

  let older: TestHost;
  let dataFolder: string;
  beforeAll(async () => {
    dataFolder = mkdtempSync(join(tmpdir(), 'homeport-upgrade-'));
    cpSync(folder, dataFolder, { recursive: true });
    for (const file of readdirSync(dataFolder, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.gz')) continue;
      writeFileSync(join(dataFolder, file.slice(0, -'.gz'.length)), gunzipSync(readFileSync(join(dataFolder, file))));
      rmSync(join(dataFolder, file));
    }
    older = await openTestHost({ dataDir: dataFolder, clock });
  });
  afterAll(async () => {
    await older[Symbol.asyncDispose]();
    rmSync(dataFolder, { recursive: true, force: true });
  });
  const callApp = <T>(path: string): Promise<T> => api<T>(older.url('control'), path);

  it('opens with all services up', () => {
    expect(older.host.failures()).toEqual({});
    expect(older.host.configProblems()).toEqual([]);
  });

  it('keeps accounts, tokens and grants, so that a client continues to work', async () => {
    const reply = await fetch(`${older.url('push')}/backup/json?poll=1&since=all`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const messages = (await reply.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { message: string });
    expect(messages.map(({ message }) => message)).toEqual([
      'Nightly backup of the NAS: 12 GB in 9 minutes.',
      'Zürich weather station: no answer.',
    ]);
    const refused = await fetch(`${older.url('push')}/door/json?poll=1`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(refused.status).toBe(403);
  });

  it('keeps scheduled messages, quiet hours and search results', async () => {
    const { messages } = await callApp<any>('/api/push/planned');
    expect(messages).toMatchObject([{ topic: 'door', message: 'Somebody rings in two days.' }]);
    expect(await callApp('/api/push/schedules')).toMatchObject({
      schedules: [{ topic: 'door', message: 'Lock the door.' }],
    });
    expect(await callApp('/api/push/quiet')).toMatchObject({
      quiet: { rules: [{ topics: 'door*', quiet: ['22:00-07:00'] }], zone: 'Europe/Zurich' },
    });
    const results = await callApp<any>('/api/push/search?words=zurich&topic=&priority=1&tag=');
    expect(results.messages).toMatchObject([{ message: 'Zürich weather station: no answer.' }]);
  });

  it('keeps each inbox row once, finds it by search and adds new messages', async () => {
    const titles = async (): Promise<string[]> =>
      (await inbox(older.url('control'))).map(({ title, body }) => (title === '' ? body : title)).toSorted();
    const before = ['Backup done', 'Scrub finished (nas@home.example)', 'Zürich weather station: no answer.'];
    expect(await titles()).toEqual(before);
    const { items } = await callApp<any>('/api/inbox?q=errors');
    expect(items).toMatchObject([{ title: 'Scrub finished (nas@home.example)' }]);
    await fetch(`${older.url('push')}/backup`, {
      method: 'POST',
      body: 'After the update.',
      headers: { Authorization: adminAuthorization },
    });
    await vi.waitFor(async () => expect(await titles()).toEqual(['After the update.', ...before]), 10_000);
  });

  it('keeps a notification with a pending delivery, and the mail', async () => {
    const { notices } = await callApp<any>('/api/notify/notices');
    expect(notices).toMatchObject([{ title: 'Disk', deliveries: [{ state: 'waiting' }] }]);
    expect((await callApp<any>('/api/notify/notices?q=fails')).notices).toHaveLength(1);
    const { messages } = await callApp<any>('/api/mail/messages');
    expect(messages).toMatchObject([{ subject: 'Scrub finished' }]);
  });

  it('keeps the limits of downloads', async () => {
    expect(await callApp('/api/downloads/limits')).toMatchObject({
      limits: { speed: 1_000_000, hours: ['mon-fri 22:00-07:00'] },
    });
  });
});
