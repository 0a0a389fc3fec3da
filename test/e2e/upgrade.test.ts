import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { api } from '../support/api.ts';
import { openTestHost, type TestHost } from '../support/host.ts';

/**
 * A data folder as the version before secrets were sealed has left it: databases as text, and every secret in it a word
 * that ends in `-secret`.
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
  expect(kept()).toContain('json-path-secret');
  expect(kept()).toContain('refused-token-secret');
  expect(kept()).toContain('feed-token-secret');
  // No administrator is made: the one of the folder signs in.
  host = await openTestHost({ dataDir });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Every word ending in `-secret` in a row of a table or in the settings. */
function kept(): string[] {
  const texts = [readFileSync(join(dataDir, 'homeport.yaml'), 'utf8')];
  for (const service of ['notify', 'downloads']) {
    using database = new DatabaseSync(join(dataDir, service, 'db.sqlite'), { readOnly: true });
    const tables = database.prepare(`select name from sqlite_master where type = 'table'`).all();
    for (const { name } of tables)
      texts.push(JSON.stringify(database.prepare(`select * from "${String(name)}"`).all()));
  }
  return [...new Set(texts.flatMap((text) => text.match(secret) ?? []))];
}

it('an old data folder opens, and its secrets are sealed', async () => {
  expect(host.host.failures()).toEqual({});
  expect(host.host.configProblems).toEqual([]);
  await vi.waitFor(() => expect(kept()).toEqual([]), { timeout: 30_000, interval: 50 });
});

it('what was there is shown and works as before', async () => {
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
