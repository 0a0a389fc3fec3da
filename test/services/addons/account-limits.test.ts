import * as m from '#messages/addons-problems';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProviderHealthMonitor, getOperation } from '../../../services/addons/providers/provider-health.ts';
import { ProviderError } from '../../../services/addons/domain/provider-error.ts';
import { createRateLimitError } from '../../../services/addons/providers/provider-http-client.ts';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, type FakeAddon } from './fake-addon.ts';
import { hashes, openTorBox, type FakeStore } from './fake-stores.ts';
import { openDebridLink } from './more-fake-stores.ts';
import { buildConfig, customPreset, makeUser, openAddonsHost, fetchStreams } from './rig.ts';

let host: TestHost;
let upstream: FakeAddon;
let torBox: FakeStore;
let debridLink: FakeStore;
beforeAll(async () => {
  torBox = await openTorBox();
  debridLink = await openDebridLink();
  host = await openAddonsHost({ PROVIDER_D_BASE_URL: debridLink.url, PROVIDER_H_BASE_URL: torBox.url });
  const createTorrent = (infoHash: string): object => ({
    name: 'Up',
    title: 'Film.2019.1080p.mkv\n👤 9 💾 5 GB',
    infoHash,
    fileIdx: 1,
  });
  upstream = await openFakeAddon({ streams: [createTorrent(hashes.uncached), createTorrent(hashes.cached)] });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  for (const entry of [upstream, torBox, debridLink]) await entry[Symbol.asyncDispose]();
});

const user = async (id: string, apiKey: string): Promise<string> => {
  const services = [{ id, enabled: true, credentials: { apiKey } }];
  const config = buildConfig([customPreset('a', 'Up', upstream.manifestUrl)], {
    services,
    serviceWrap: { enabled: true },
  });
  return (await makeUser(host, config)).base;
};
const names = (streams: any[]): string[] => streams.map(({ name }) => name);

describe('rate limits of a debrid service', () => {
  it('applies a rate limit only to the affected account and operation', async () => {
    const [firstUser, secondUser] = [await user('torbox', 'TBKEY1'), await user('torbox', 'TBKEY2')];
    const [uncached] = await fetchStreams(firstUser);
    torBox.fail('/torrents/createtorrent', [
      429,
      { success: false, data: null, detail: 'x', error: 'COOLDOWN_LIMIT' },
      { 'retry-after': '1800' },
    ]);
    const limited = await fetch(uncached.url, { redirect: 'manual' });
    torBox.fail('/torrents/createtorrent', undefined);
    expect(limited.headers.get('location')).toContain('too-many-requests');

    const requestCount = torBox.requests.length;
    const secondResponse = await fetch(uncached.url, { redirect: 'manual' });
    expect(secondResponse.headers.get('location')).toContain('too-many-requests');
    expect(torBox.requests.slice(requestCount).some(({ path }) => path.endsWith('createtorrent'))).toBe(false);

    const ready = ['[TB download] Up 1080p', '[TB+] Up 1080p'];
    expect(names(await fetchStreams(firstUser, 'movie/tt2'))).toEqual(ready);
    const listed = await fetchStreams(secondUser, 'movie/tt3');
    expect(names(listed)).toEqual(ready);
    const played = await fetch(listed[1].url, { redirect: 'manual' });
    expect([played.status, played.headers.get('location')]).toEqual([307, expect.stringContaining('direct.example')]);
    const added = await fetch(listed[0].url, { redirect: 'manual' });
    expect(added.headers.get('location')).not.toContain('too-many-requests');
  });

  it('keeps other accounts active when one account is limited, and reports the limit', async () => {
    const [firstUser, secondUser] = [await user('debridlink', 'DLKEY-ONE'), await user('debridlink', 'DLKEY')];
    debridLink.fail('/', [200, { success: false, error: 'floodDetected' }]);
    await fetchStreams(firstUser, 'movie/tt4');
    debridLink.fail('/', undefined);
    const requestCount = debridLink.requests.length;
    const rows = await fetchStreams(firstUser, 'movie/tt5');
    expect(debridLink.requests.length).toBe(requestCount);
    expect(rows.at(-1).description).toMatch(/^Debrid-Link has limited this account until .+ UTC\.$/);
    expect(names(await fetchStreams(secondUser, 'movie/tt6')).some((name) => name.startsWith('[❌]'))).toBe(false);
  });
});

describe('ProviderHealthMonitor', () => {
  const clock = { now: () => 1_000_000 } as any;
  const call = (credential: string, operation = 'GET /a') =>
    ({ id: 'torbox', name: 'TorBox', credential, operation }) as const;
  const failure = new ProviderError('SERVICE_UNAVAILABLE', 'down');

  it('pauses one account after five failures, but not another one', () => {
    const health = new ProviderHealthMonitor(clock);
    for (let round = 0; round < 5; round += 1) health.recordFailure(call('one'), 1, failure);
    expect(() => health.check(call('one'))).toThrow(m.pausedAfterFailures({ name: 'TorBox', seconds: 60 }));
    expect(() => health.check(call('other'))).not.toThrow();
    expect(health.list()[0]?.disabledUntil).toBe(1_060_000);
  });

  it('stores a refused key for its account only', () => {
    const health = new ProviderHealthMonitor(clock);
    health.recordFailure(call('one'), 1, new ProviderError('UNAUTHORIZED', 'no'));
    expect(() => health.check(call('one', 'GET /b'))).toThrow(m.keyRejected({ name: 'TorBox' }));
    expect(() => health.check(call('other'))).not.toThrow();
    health.reset('torbox', 'one');
    expect(() => health.check(call('one'))).not.toThrow();
  });

  it('parses Retry-After as seconds or as a date', () => {
    expect(createRateLimitError('X', '120').retryAfterMs).toBe(120_000);
    const inTwoMinutes = createRateLimitError('X', new Date(Date.now() + 120_000).toUTCString()).retryAfterMs ?? 0;
    expect(inTwoMinutes).toBeGreaterThan(100_000);
    expect(inTwoMinutes).toBeLessThanOrEqual(121_000);
    expect(createRateLimitError('X', 'soon').retryAfterMs).toBeUndefined();
  });

  it('builds the name of an operation without IDs and query', () => {
    expect(getOperation('GET', '/torrents/info/ABC123456?x=1')).toBe('GET /torrents/info/:id');
    expect(getOperation('POST', `/seedbox/${'a'.repeat(40)}/remove`)).toBe('POST /seedbox/:id/remove');
    expect(getOperation('GET', '/torrents/mylist?id=5')).toBe('GET /torrents/mylist');
  });
});
