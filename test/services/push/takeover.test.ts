import * as texts from '#messages/push-texts';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from './rig.ts';

const entry = fileURLToPath(new URL('../../../main/homeport.mjs', import.meta.url));
const token = `tk_${'a1'.repeat(14)}z`;
const folder = mkdtempSync(join(tmpdir(), 'takeover-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Creates the files of an ntfy 2.27 server. */
function createNtfyFiles(targetFolder: string): void {
  mkdirSync(targetFolder);
  const auth = new Database(join(targetFolder, 'auth.db'));
  auth.exec(`
    CREATE TABLE user (id TEXT PRIMARY KEY, tier_id TEXT, user TEXT NOT NULL, pass TEXT NOT NULL, role TEXT NOT NULL,
      prefs JSON NOT NULL DEFAULT '{}', sync_topic TEXT NOT NULL, deleted INT);
    CREATE TABLE user_access (user_id TEXT, topic TEXT, read INT, write INT, owner_user_id TEXT);
    CREATE TABLE user_token (user_id TEXT, token TEXT, label TEXT, last_access INT, last_origin TEXT, expires INT);
    INSERT INTO user VALUES ('u_everyone', NULL, '*', '', 'anonymous', '{}', '', NULL);
    INSERT INTO user VALUES ('u_1', NULL, 'phil', '$2a$10$abc', 'admin', '{}', 'st_a', NULL);
    INSERT INTO user VALUES ('u_2', NULL, 'ben', '$2a$10$B7epPN738kNYPBtxG65ks.PJ6w1l44RtG7vapyUaRpmUYt72A4doC', 'user',
      '{"language":"de","subscriptions":[{"base_url":"https://old.example","topic":"alerts","display_name":"A"}]}', 'st_b', NULL);
    INSERT INTO user VALUES ('u_3', NULL, 'gone', '', 'user', 'no json', 'st_c', 1700000000);
    INSERT INTO user_access VALUES ('u_2', 'up%', 1, 0, NULL), ('u_2', 'my\\_topic', 1, 1, NULL),
      ('u_2', 'secret', 0, 0, NULL), ('u_everyone', 'open', 0, 1, NULL), ('u_9', 'x', 1, 1, NULL);
    INSERT INTO user_token VALUES ('u_2', '${token}', 'phone', 1700000000, '1.2.3.4', 0),
      ('u_2', 'tk_${'b2'.repeat(14)}z', 'old', 1, '', 1600000000), ('u_2', 'nonsense', 'x', 1, '', 0);
  `);
  auth.close();
  const cache = new Database(join(targetFolder, 'cache.db'));
  const now = Math.floor(Date.now() / 1000);
  cache.exec(`
    CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, mid TEXT, sequence_id TEXT, time INT, event TEXT, expires INT,
      topic TEXT, message TEXT, title TEXT, priority INT, tags TEXT, click TEXT, icon TEXT, actions TEXT, attachment_name TEXT,
      attachment_type TEXT, attachment_size INT, attachment_expires INT, attachment_url TEXT, attachment_deleted INT,
      sender TEXT, user TEXT, content_type TEXT, encoding TEXT, published INT);
  `);
  const insert = cache.prepare(
    `INSERT INTO messages (mid, sequence_id, time, event, expires, topic, message, title, priority, tags, click, actions,
      attachment_name, attachment_size, attachment_url, published) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
  );
  const row = (
    mid: string,
    message: string,
    extra: { expires?: number; published?: number; size?: number; time?: number } = {},
  ) =>
    insert.run(
      ...[
        mid,
        mid,
        extra.time ?? now - 60,
        'message',
        extra.expires ?? now + 3600,
        'my_topic',
        message,
        'T',
        4,
        'a,b',
        '',
        '',
      ],
      ...['f.txt', extra.size ?? 0, 'https://files.example/f.txt', extra.published ?? 1],
    );
  row('AAAAAAAAAAAA', 'first');
  row('BBBBBBBBBBBB', 'second', { size: 7 });
  row('CCCCCCCCCCCC', 'over', { expires: now - 5 });
  row('DDDDDDDDDDDD', 'later', { published: 0, time: now + 3600, expires: now + 7200 });
  row('EEEEEEEEEEEE', 'overdue', { published: 0, time: now - 5 });
  row('FFFFFFFFFFFF', 'with a file', { size: 4 });
  row('GGGGGGGGGGGG', 'with a link', { size: 4 });
  cache.exec(`UPDATE messages SET attachment_expires = ${now + 3600}, attachment_type = 'text/plain; charset=utf-8'`);
  mkdirSync(join(targetFolder, 'files'));
  writeFileSync(join(targetFolder, 'files', 'FFFFFFFFFFFF'), 'kept');
  writeFileSync(join(targetFolder, 'secret'), 'priv');
  symlinkSync(join(targetFolder, 'secret'), join(targetFolder, 'files', 'GGGGGGGGGGGG'));
  cache.close();
  writeFileSync(
    join(targetFolder, 'server.yml'),
    'base-url: https://old.example\ncache-duration: "24h"\nvisitor-request-limit-burst: 99\n' +
      'enable-signup: true\nattachment-cache-dir: /var/cache/ntfy/files\nsmtp-server-listen: a:1\n',
  );
}

async function runCli(...args: string[]): Promise<{ code: number; out: string }> {
  try {
    const environment = { PATH: process.env['PATH'], HOME: folder };
    const { stdout } = await promisify(execFile)(process.execPath, [entry, ...args], { env: environment });
    return { code: 0, out: stdout };
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string };
    return { code, out: stderr };
  }
}

describe('import of an ntfy server', () => {
  const [old, dataDir] = [join(folder, 'ntfy'), join(folder, 'data')];
  const authorization = `Bearer ${token}`;
  let first: Awaited<ReturnType<typeof runCli>>;
  let second: Awaited<ReturnType<typeof runCli>>;
  let rig: Rig;
  beforeAll(async () => {
    createNtfyFiles(old);
    first = await runCli('import', 'ntfy', old, '--data-dir', dataDir);
    second = await runCli('import', 'ntfy', old, '--data-dir', dataDir);
    rig = await openRig({ dataDir });
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  it('reports what it imported, and imports nothing twice', () => {
    expect(first).toEqual({
      code: 0,
      out: [
        'Settings: baseUrl, cacheDuration, requestLimitBurst, enableSignup.',
        texts.importedAccounts({ accounts: 2, grants: 4, tokens: 1 }),
        texts.importedWithoutPassword({ names: 'phil' }),
        texts.importedMessages({ messages: 4, scheduled: 2, files: 1 }),
        texts.importFilesNotFound({ count: 2 }),
        texts.importSettingsSkipped({ names: 'smtp-server-listen' }),
        '',
      ].join('\n'),
    });
    expect(second.out).toContain(texts.importedAccounts({ accounts: 0, grants: 4, tokens: 0 }));
    expect(second.out).toContain(texts.importedMessages({ messages: 0, scheduled: 0, files: 0 }));
  });

  it('imports accounts with their passwords, grants and tokens', async () => {
    expect(await rig.context.accounts.find('phil')).toMatchObject({ role: 'admin', hasPassword: false });
    const basic = (password: string) => `Basic ${Buffer.from(`ben:${password}`).toString('base64')}`;
    expect((await rig.ask('GET', '/v1/account', { authorization: basic('userpass1') })).status).toBe(401);
    for (let twice = 0; twice < 2; twice += 1) {
      const { text } = await rig.ask('GET', '/v1/account', { authorization: basic('userpass12') });
      expect(JSON.parse(text)).toMatchObject({ username: 'ben' });
    }
    expect(
      (await rig.context.accounts.find('ben'))?.grants.map(({ resource, permission }) => [resource, permission]),
    ).toEqual([
      ['up*', 'read'],
      ['my_topic', 'read-write'],
      ['secret', 'none'],
    ]);
    expect(JSON.parse((await rig.ask('GET', '/v1/account', { authorization })).text)).toMatchObject({
      username: 'ben',
      language: 'de',
      subscriptions: [{ base_url: 'https://old.example', topic: 'alerts', display_name: 'A' }],
      limits: { messages_expiry_duration: 24 * 3600 },
    });
    expect((await rig.ask('POST', '/open', {}, 'x')).status).toBe(200);
  });

  it('imports messages with their attachments, and publishes those that are due', async () => {
    const poll = async (query: string): Promise<any[]> => {
      const { text } = await rig.ask('GET', `/my_topic/json?poll=1${query}`, { authorization });
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    };
    // Messages due during the downtime are published at the start.
    await expect.poll(async () => (await poll('')).length).toBe(5);
    const messages = await poll('');
    expect(messages).toMatchObject([
      {
        id: 'AAAAAAAAAAAA',
        event: 'message',
        message: 'first',
        title: 'T',
        priority: 4,
        tags: ['a', 'b'],
        attachment: { name: 'f.txt', url: 'https://files.example/f.txt' },
      },
      { id: 'BBBBBBBBBBBB', message: 'second' },
      { id: 'FFFFFFFFFFFF', attachment: { name: 'f.txt', size: 4, type: 'text/plain; charset=utf-8' } },
      { id: 'GGGGGGGGGGGG', message: 'with a link' },
      { id: 'EEEEEEEEEEEE', message: 'overdue' },
    ]);
    expect(messages.map(({ attachment }) => attachment === undefined)).toEqual([false, true, false, true, false]);
    expect((await poll('&scheduled=1')).at(-1)).toMatchObject({ id: 'DDDDDDDDDDDD', message: 'later' });
    expect((await rig.ask('GET', '/file/FFFFFFFFFFFF')).text).toBe('kept');
    expect((await rig.ask('GET', '/file/GGGGGGGGGGGG')).status).toBe(404);
  });
});

it('reports problems of the folder', async () => {
  const data = ['--data-dir', join(folder, 'unused')];
  expect(await runCli('import', 'ntfy', join(folder, 'nowhere'), ...data)).toMatchObject({
    code: 1,
    out: expect.stringContaining('No auth.db'),
  });
  const bad = join(folder, 'bad');
  mkdirSync(bad);
  writeFileSync(join(bad, 'auth.db'), 'this is no database, whatever it is called '.repeat(50));
  expect(await runCli('import', 'ntfy', bad, ...data)).toMatchObject({
    code: 1,
    out: expect.stringContaining('isn’t a valid ntfy server file'),
  });
  expect(await runCli('import', 'other', bad, ...data)).toMatchObject({ code: 2 });
});
