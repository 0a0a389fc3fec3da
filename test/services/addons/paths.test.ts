import * as m from '#messages/addons-problems';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, sendJson, type FakeAddon } from './fake-addon.ts';
import { hashes, openTorBox } from './fake-stores.ts';
import { buildConfig, customPreset, getJson, makeUser, openAddonsHost, readJson, type CreatedUser } from './rig.ts';

describe('special characters in addresses', () => {
  let host: TestHost;
  let echo: FakeAddon;
  let profile: CreatedUser;
  let segment: string;
  beforeAll(async () => {
    host = await openAddonsHost();
    echo = await openFakeAddon({
      manifest: {
        ...{ id: 'e', name: 'Echo', version: '1.0.0', types: ['movie', 'v', 'stream', 'a/b', 'ä'] },
        resources: ['stream', 'catalog', 'meta'],
        catalogs: [{ type: 'v', id: 'v', extra: [{ name: 'search' }] }],
      },
      answer: (request, response) => {
        const path = request.url ?? '';
        if (path.startsWith('/stream/'))
          sendJson(response, { streams: [{ url: `http://h.example${path}`, name: 'E' }] });
        else if (path.startsWith('/catalog/')) sendJson(response, { metas: [{ id: 'x', type: 'v', name: path }] });
        return response.headersSent;
      },
    });
    profile = await makeUser(host, buildConfig([customPreset('stream', 'Echo', echo.manifestUrl)]));
    const reply = await fetch(`${host.url('addons')}/configure`, {
      method: 'POST',
      body: JSON.stringify(buildConfig([customPreset('stremio', 'Echo', echo.manifestUrl)])),
    });
    segment = (await readJson(reply)).data.userId;
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    await echo[Symbol.asyncDispose]();
  });

  it.each([
    ['a double escape', 'movie', 'tt1%253A1', '/stream/movie/tt1%253A1.json'],
    ['colons', 'movie', 'tt1%3A1%3A2', '/stream/movie/tt1%3A1%3A2.json'],
    ['unescaped colons', 'movie', 'tt1:1:2', '/stream/movie/tt1%3A1%3A2.json'],
    ['a slash in a type', 'a%2Fb', 'x', '/stream/a%2Fb/x.json'],
    ['a slash, dots and .json in an id', 'movie', '..%2F..%2Fx.json', '/stream/movie/..%2F..%2Fx.json.json'],
    ['a question mark and a hash', 'movie', 'a%3Fb%23c', '/stream/movie/a%3Fb%23c.json'],
    ['a plus and a space', 'movie', 'a+b%20c', '/stream/movie/a%2Bb%20c.json'],
    ['letters of other languages', '%C3%A4', '%E6%98%A0', '/stream/%C3%A4/%E6%98%A0.json'],
    ['the type v', 'v', 'x', '/stream/v/x.json'],
    ['a type with the name of a resource', 'stream', 'stream', '/stream/stream/stream.json'],
  ])('are decoded: %s', async (_case, type, id, expectedPath) => {
    for (const base of [profile.base, `${host.url('addons')}/${segment}`]) {
      const { streams } = await getJson(`${base}/stream/${type}/${id}.json`);
      expect(streams).toHaveLength(1);
    }
    expect(echo.requests.at(-1)).toBe(expectedPath);
  });

  it.each([
    ['search=a%20%26%20b%3Dc', 'search=a%20%26%20b%3Dc'],
    ['search=100%2525', 'search=100%2525'],
    ['search=x.json&skip=100', 'search=x.json&skip=100'],
    ['search=%2Fetc%2Fpasswd', 'search=%2Fetc%2Fpasswd'],
    ['search=', 'search='],
    ['__proto__=x&search=y', 'search=y'],
  ])('decodes an extra %s', async (extra, expectedPath) => {
    const { catalogs } = await getJson(profile.manifestUrl);
    const { metas } = await getJson(`${profile.base}/catalog/v/${encodeURIComponent(catalogs[0].id)}/${extra}.json`);
    expect(metas[0].name).toBe(`/catalog/v/v/${expectedPath}.json`);
  });

  it.each([
    'stream/movie/%E0%A4%A.json',
    'stream/movie/.json',
    'stream/movie/a/b/c.json',
    'stream/movie/a/x=%.json',
    'nothing/movie/x.json',
  ])('rejects %s with an envelope', async (path) => {
    const reply = await fetch(`${profile.base}/${path}`);
    expect([reply.status, (await readJson(reply)).success]).toEqual([404, false]);
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  });

  it('does not parse route names as users', async () => {
    const url = host.url('addons');
    for (const name of [
      'api',
      'API',
      '%61pi',
      'static',
      'proxy',
      'export',
      'health',
      'configure',
      'v',
      '__proto__',
      'constructor',
      'A',
      `A${'A'.repeat(80)}`,
    ]) {
      const reply = await fetch(`${url}/${name}/manifest.json`, { redirect: 'manual' });
      expect([name, reply.status < 400]).toEqual([name, false]);
    }
    const root = await getJson(`${url}/stremio/manifest.json`);
    expect(root.behaviorHints.configurationRequired).toBe(true);
    const { data } = await getJson(`${url}/api/v1/health`);
    expect(data).toBeNull();
    // Another name in the path is not parsed as part of the configuration.
    const reply = await fetch(`${url}/stremio/${profile.uuid}/stream/movie/x.json`);
    expect((await readJson(reply)).streams?.[0]?.name ?? 'none').not.toBe('E');
  });
});

describe('a revoked token', () => {
  it('is reported between the list and the file, and during playback', async () => {
    await using torBox = await openTorBox();
    await using host = await openAddonsHost({ PROVIDER_H_BASE_URL: torBox.url });
    await using up = await openFakeAddon({
      streams: [{ infoHash: hashes.cached, title: 'In.Movie.2019.1080p.mkv' }],
    });
    const services = [{ id: 'torbox', enabled: true, credentials: { apiKey: 'TBKEY' } }];
    const { base } = await makeUser(host, buildConfig([customPreset('u', 'Up', up.manifestUrl)], { services }));
    const [stream] = (await getJson(`${base}/stream/movie/tt1.json`)).streams;
    expect(stream.name).toBe('[TB+] Up 1080p');
    // The torrent was added, and only its link is refused.
    const revoked = [403, { success: false, data: null, detail: 'x', error: 'BAD_TOKEN' }] as const;
    torBox.fail('/torrents/requestdl', revoked);
    const played = await fetch(stream.url, { redirect: 'manual' });
    expect(played.headers.get('location')).toMatch(/\/static\/unauthorized\.mp4$/);
    expect(torBox.requests.some(({ path }) => path === '/torrents/createtorrent')).toBe(true);
    const laterStreams = (await getJson(`${base}/stream/movie/tt2.json`)).streams;
    expect(laterStreams.at(-1).description).toBe(m.keyRejected({ name: 'TorBox' }));
    expect(laterStreams).toHaveLength(2);
    const { data } = await getJson(`${host.url('addons')}/api/v1/providers/health`);
    expect(JSON.stringify(data)).toContain(m.keyRejected({ name: 'TorBox' }));
    expect(JSON.stringify(data)).not.toContain('TBKEY');
  });
});
