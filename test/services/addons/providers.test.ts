import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, sendJson, type FakeAddon } from './fake-addon.ts';
import { hashes, openRealDebrid, openTorBox, type FakeStore, type StoreReply } from './fake-stores.ts';
import {
  openAllDebrid,
  openDebridLink,
  openEasynews,
  openPikPak,
  openPremiumize,
  openPutIo,
} from './more-fake-stores.ts';
import { buildConfig, customPreset, getJson, makeUser, openAddonsHost } from './rig.ts';

interface Case {
  readonly id: string;
  readonly short: string;
  readonly letter: string;
  readonly open: () => Promise<FakeStore>;
  readonly credentials: Readonly<Record<string, string>>;
  /** Expected streams before the first playback. */
  readonly listed: readonly [uncached: string, cached: string, library: string];
  readonly links: readonly [cached: string, library: string];
  /** Responses to the first call of a playback, with the expected clip. */
  readonly faults: readonly (readonly [path: string, reply: StoreReply, clip: string])[];
  readonly secret: string;
}
const unknown = (short: string): readonly [string, string, string] => [
  `[${short} download]`,
  `[${short} download]`,
  `[${short}+]`,
];
const createErrorItem = (short: string): readonly [string, string, string] => [
  `[${short} download]`,
  `[${short}+]`,
  `[${short}+]`,
];
const rd = (status: number, error: string, error_code: number): StoreReply => [status, { error, error_code }];
const ad = (code: string): StoreReply => [200, { status: 'error', error: { code, message: code } }];
const pm = (message: string): StoreReply => [200, { status: 'error', message }];
const dl = (error: string): StoreReply => [200, { success: false, error }];
const put = (error_type: string, status = 400): StoreReply => [
  status,
  { status: 'ERROR', error_type, error_message: error_type },
];
const pp = (error: string, error_code: number): StoreReply => [400, { error, error_code }];
const tb = (error: string): StoreReply => [400, { success: false, data: null, detail: error, error }];
const malformed: StoreReply = [200, '<html>'];
const tooMany: StoreReply = [429, {}, { 'retry-after': '30' }];

const cases: readonly Case[] = [
  {
    ...{
      id: 'realdebrid',
      short: 'RD',
      letter: 'A',
      open: openRealDebrid,
      credentials: { apiKey: 'RDKEY' },
      secret: 'RDKEY',
    },
    listed: unknown('RD'),
    links: ['https://direct.example/rd/T1-2', 'https://direct.example/rd/LIB-2'],
    faults: [
      ['/torrents/addMagnet', rd(401, 'bad_token', 8), 'unauthorized'],
      ['/torrents/addMagnet', rd(403, 'permission_denied', 9), 'forbidden'],
      ['/torrents/addMagnet', rd(403, 'premium_only', 20), 'payment-required'],
      ['/torrents/addMagnet', rd(403, 'too_many_active', 21), 'limit-reached'],
      ['/torrents/addMagnet', rd(451, 'infringing_file', 35), 'legal-removal'],
      ['/torrents/addMagnet', rd(400, 'parameter', 2), 'failed'],
      ['/torrents/addMagnet', rd(503, 'down', 25), 'internal-error'],
      ['/torrents/addMagnet', malformed, 'internal-error'],
      ['/torrents/addMagnet', rd(429, 'too_many_requests', 34), 'too-many-requests'],
    ],
  },
  {
    ...{
      id: 'alldebrid',
      short: 'AD',
      letter: 'B',
      open: openAllDebrid,
      credentials: { apiKey: 'ADKEY' },
      secret: 'ADKEY',
    },
    listed: unknown('AD'),
    links: ['https://direct.example/ad/1', 'https://direct.example/ad/1'],
    faults: [
      ['/v4/magnet/upload', ad('AUTH_BAD_APIKEY'), 'unauthorized'],
      ['/v4/magnet/upload', ad('AUTH_BLOCKED'), 'forbidden'],
      ['/v4/magnet/upload', ad('MUST_BE_PREMIUM'), 'payment-required'],
      ['/v4/magnet/upload', ad('MAGNET_TOO_MANY_ACTIVE'), 'limit-reached'],
      [
        '/v4/magnet/upload',
        [200, { status: 'success', data: { magnets: [{ error: { code: 'MAGNET_INVALID_URI', message: 'x' } }] } }],
        'failed',
      ],
      ['/v4/magnet/upload', ad('MAINTENANCE'), 'internal-error'],
      ['/v4/magnet/upload', malformed, 'internal-error'],
      ['/v4/magnet/upload', tooMany, 'too-many-requests'],
    ],
  },
  {
    ...{
      id: 'premiumize',
      short: 'PM',
      letter: 'C',
      open: openPremiumize,
      credentials: { apiKey: 'PMKEY' },
      secret: 'PMKEY',
    },
    listed: createErrorItem('PM'),
    links: ['https://direct.example/pm/1', 'https://direct.example/pm/lib'],
    faults: [
      ['/transfer/directdl', pm('Not logged in'), 'unauthorized'],
      ['/transfer/directdl', pm('You need a premium subscription'), 'payment-required'],
      ['/transfer/directdl', pm('Fair use limit reached'), 'limit-reached'],
      ['/transfer/directdl', pm('Invalid magnet'), 'failed'],
      ['/transfer/directdl', malformed, 'internal-error'],
      ['/transfer/directdl', tooMany, 'too-many-requests'],
    ],
  },
  {
    ...{
      id: 'debridlink',
      short: 'DL',
      letter: 'D',
      open: openDebridLink,
      credentials: { apiKey: 'DLKEY' },
      secret: 'DLKEY',
    },
    listed: unknown('DL'),
    links: ['https://direct.example/dl/T1-1', 'https://direct.example/dl/L1-1'],
    faults: [
      ['/seedbox/add', dl('badToken'), 'unauthorized'],
      ['/seedbox/add', dl('serverNotAllowed'), 'forbidden'],
      ['/seedbox/add', dl('freeServerOverload'), 'payment-required'],
      ['/seedbox/add', dl('maxTorrent'), 'limit-reached'],
      ['/seedbox/add', dl('notAddTorrent'), 'failed'],
      ['/seedbox/add', dl('maintenanceHost'), 'internal-error'],
      ['/seedbox/add', malformed, 'internal-error'],
      ['/seedbox/add', dl('floodDetected'), 'too-many-requests'],
    ],
  },
  {
    ...{
      id: 'putio',
      short: 'P.IO',
      letter: 'E',
      open: openPutIo,
      credentials: { clientId: '1', token: 'PUTTOKEN' },
      secret: 'PUTTOKEN',
    },
    listed: unknown('P.IO'),
    links: ['https://direct.example/put/911', 'https://direct.example/put/911'],
    faults: [
      ['/transfers/add', put('invalid_grant', 401), 'unauthorized'],
      ['/transfers/add', put('PAYMENT_REQUIRED', 402), 'payment-required'],
      ['/transfers/add', put('DiskQuotaReached'), 'limit-reached'],
      ['/transfers/add', put('DMCA', 451), 'legal-removal'],
      ['/transfers/add', put('BadRequest'), 'failed'],
      ['/transfers/add', [502, ''], 'internal-error'],
      ['/transfers/add', tooMany, 'too-many-requests'],
    ],
  },
  {
    ...{
      id: 'pikpak',
      short: 'PKP',
      letter: 'G',
      open: openPikPak,
      credentials: { email: 'ada@example.org', password: 'secret' },
      secret: 'ada@example.org',
    },
    listed: unknown('PKP'),
    links: ['https://direct.example/pp/f1', 'https://direct.example/pp/f1'],
    faults: [
      ['/v1/auth/signin', pp('invalid_account_or_password', 4022), 'unauthorized'],
      ['/v1/shield/captcha/init', pp('captcha_required', 4002), 'forbidden'],
      ['/drive/v1/files', pp('file_space_not_enough', 8), 'limit-reached'],
      ['/drive/v1/files', pp('invalid_argument', 3), 'failed'],
      ['/drive/v1/files', malformed, 'internal-error'],
      ['/drive/v1/files', tooMany, 'too-many-requests'],
    ],
  },
  {
    ...{ id: 'torbox', short: 'TB', letter: 'H', open: openTorBox, credentials: { apiKey: 'TBKEY' }, secret: 'TBKEY' },
    listed: createErrorItem('TB'),
    links: ['https://direct.example/tb/11-1', 'https://direct.example/tb/5-1'],
    faults: [
      ['/torrents/createtorrent', tb('BAD_TOKEN'), 'unauthorized'],
      ['/torrents/createtorrent', tb('PLAN_RESTRICTED_FEATURE'), 'payment-required'],
      ['/torrents/createtorrent', tb('ACTIVE_LIMIT'), 'limit-reached'],
      ['/torrents/createtorrent', tb('BOZO_TORRENT'), 'failed'],
      ['/torrents/createtorrent', tb('NO_SERVERS_AVAILABLE_ERROR'), 'internal-error'],
      ['/torrents/createtorrent', malformed, 'internal-error'],
      ['/torrents/createtorrent', tb('COOLDOWN_LIMIT'), 'too-many-requests'],
    ],
  },
];

const torrent = (name: string, infoHash: string): object => ({
  name: 'Up',
  title: `${name}.Movie.2019.1080p.WEB-DL.x264-GRP.mkv\n💾 5 GB`,
  infoHash,
});

describe('providers', () => {
  const stores = new Map<string, FakeStore>();
  let host: TestHost;
  let upstream: FakeAddon;
  beforeAll(async () => {
    const environment: Record<string, string> = {};
    for (const { id, letter, open } of cases) {
      const store = await open();
      stores.set(id, store);
      environment[`PROVIDER_${letter}_BASE_URL`] = store.url;
    }
    environment['PROVIDER_G_AUTH_BASE_URL'] = stores.get('pikpak')?.url ?? '';
    environment['PROVIDER_G_CLIENT_ID'] = 'CLIENT';
    environment['PROVIDER_G_CLIENT_SECRET'] = 'S';
    host = await openAddonsHost(environment);
    upstream = await openFakeAddon({
      streams: [torrent('Un', hashes.uncached), torrent('In', hashes.cached), torrent('Own', hashes.library)],
    });
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    for (const store of stores.values()) await store[Symbol.asyncDispose]();
  });

  const getProviderStreams = async (
    id: string,
    credentials: object,
    title: string,
    from = upstream,
  ): Promise<any[]> => {
    const config = buildConfig([customPreset('a1', 'Up', from.manifestUrl)], {
      services: [{ id, enabled: true, credentials }],
    });
    const { base } = await makeUser(host, config);
    return (await getJson(`${base}/stream/movie/${title}.json`)).streams;
  };
  const play = async (url: string): Promise<string> =>
    (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '';
  const clip = (location: string): string => location.replace(/^.*\/static\/(.*)\.mp4$/, '$1');

  it.each(cases)('lists, plays and reports downloads: $id', async ({ id, credentials, listed, links, secret }) => {
    const streams = await getProviderStreams(id, credentials, 'tt0000001');
    expect(streams.map(({ name }: any) => name)).toEqual(listed.map((mark) => `${mark} Up 1080p`));
    expect(JSON.stringify(streams)).not.toContain(secret);
    expect(await play(streams[1].url)).toBe(links[0]);
    expect(await play(streams[2].url)).toBe(links[1]);
    expect(clip(await play(streams[0].url))).toBe('downloading');
  });

  it.each(cases)('has a clip for each refusal: $id', async ({ id, credentials, faults }) => {
    const store = stores.get(id);
    const seen: string[] = [];
    for (const [number, [path, reply]] of faults.entries()) {
      await using torrentAddon = await openFakeAddon({ streams: [torrent('New', String(number).repeat(40))] });
      // A refused credential is not sent again, so each case uses another one.
      const [last = ''] = Object.keys(credentials).slice(id === 'pikpak' ? 0 : -1);
      const changedCredentials = { ...credentials, [last]: `${credentials[last] ?? ''}${String(number)}` };
      store?.fail(path, reply);
      const [stream] = await getProviderStreams(id, changedCredentials, `tt00000${String(number + 10)}`, torrentAddon);
      seen.push(clip(await play(stream.url)));
      store?.fail(path, undefined);
    }
    expect(seen).toEqual(faults.map(([, , clipName]) => clipName));
  });
});

describe('Easynews', () => {
  it('searches by title and plays through the proxy without revealing the credentials', async () => {
    await using news = await openEasynews();
    await using meta = await openFakeAddon({
      answer: (request, response) => {
        if (request.url === '/meta/movie/tt1.json')
          sendJson(response, { meta: { id: 'tt1', name: 'The Movie', year: '2019' } });
        return response.headersSent;
      },
    });
    await using host = await openAddonsHost({ PROVIDER_F_BASE_URL: news.url, METADATA_URL: meta.url });
    const config = buildConfig([{ type: 'easynews', instanceId: 'en1', enabled: true, options: {} }], {
      services: [{ id: 'easynews', enabled: true, credentials: { username: 'ada', password: 'news' } }],
    });
    const { base } = await makeUser(host, config);
    const { streams } = await getJson(`${base}/stream/movie/tt1.json`);
    expect(streams).toHaveLength(1);
    expect(streams[0].name).toBe('[EN+] Easynews search 1080p');
    expect(news.requests.at(-1)?.query.get('gps')).toBe('The Movie 2019');
    expect(JSON.stringify(streams)).not.toContain(Buffer.from('ada:news').toString('base64').replace('=', ''));
    const clipName = await fetch(streams[0].url);
    expect([clipName.status, await clipName.text()]).toEqual([200, 'the film']);
  });
});
