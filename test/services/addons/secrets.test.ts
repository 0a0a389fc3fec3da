import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFakeAddon } from './fake-addon.ts';
import { hashes, openTorBox } from './fake-stores.ts';
import { buildConfig, customPreset, makeUser, openAddonsHost, password, fetchStreams } from './rig.ts';

describe('credentials', () => {
  /** Lists every file below a folder with its content. */
  const listFiles = (folder: string): readonly { readonly path: string; readonly bytes: Buffer }[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ path, bytes: readFileSync(path) }));

  it('are in no file of the data folder, log line, metric, response or address', async () => {
    await using torBox = await openTorBox('TB-SECRET-KEY');
    await using testHost = await openAddonsHost({ PROVIDER_H_BASE_URL: torBox.url, LOG_LEVEL: 'debug' });
    const secrets = ['TB-SECRET-KEY', 'KEY-IN-ADDRESS', 'PARENT-PASS-1', password];
    await using up = await openFakeAddon({
      streams: [{ infoHash: hashes.cached, title: 'A.2019.1080p.mkv' }],
      answer: (request, response) => {
        if (request.url?.includes('tt500') === true) response.writeHead(500).end();
        return response.headersSent;
      },
    });
    const keyed = up.manifestUrl.replace('/manifest', '/KEY-IN-ADDRESS/manifest');
    const profile = await makeUser(
      testHost,
      buildConfig([customPreset('u1', 'Up', keyed)], {
        services: [
          { id: 'torbox', enabled: true, credentials: { apiKey: 'TB-SECRET-KEY' } },
          { id: 'realdebrid', enabled: true, credentials: { apiKey: 'TB-SECRET-KEY' } },
        ],
      }),
    );
    const seen: string[] = [profile.manifestUrl];
    for (const id of ['tt1', 'tt500']) {
      const streams = await fetchStreams(profile.base, `movie/${id}`);
      seen.push(JSON.stringify(streams));
      for (const { url: play } of streams)
        if (typeof play === 'string' && play.startsWith(testHost.url('addons'))) {
          const response = await fetch(play, { redirect: 'manual' });
          seen.push(play, JSON.stringify([...response.headers]));
        }
    }
    expect(seen.join()).toContain('direct.example');
    seen.push(await (await fetch(`${testHost.url('addons')}/metrics`)).text());
    seen.push(await (await fetch(`${testHost.url('addons')}/api/v1/providers/health`)).text());
    seen.push(testHost.log.join('\n'));
    const database = join(testHost.dataDir, 'addons');
    expect(existsSync(join(database, 'db.sqlite'))).toBe(true);
    const check = (): void => {
      const files = listFiles(testHost.dataDir);
      // The row exists, so the search covers the correct file.
      expect(files.some(({ bytes }) => bytes.includes(profile.uuid))).toBe(true);
      for (const secret of secrets) {
        expect(files.filter(({ bytes }) => bytes.includes(secret)).map(({ path }) => path)).toEqual([]);
        expect([secret, seen.some((text) => text.includes(secret))]).toEqual([secret, false]);
      }
      expect(files.filter(({ bytes }) => bytes.includes(profile.encryptedPassword)).map(({ path }) => path)).toEqual(
        [],
      );
    };
    check();
    // The write-ahead log has been merged into the file.
    await testHost.host[Symbol.asyncDispose]();
    expect(existsSync(database)).toBe(true);
    check();
  });
});
