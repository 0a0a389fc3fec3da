import * as m from '#messages/addons-problems';
import { get } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization, type TestHost } from '../../support/host.ts';
import { alphaStreams, openFakeAddon, type FakeAddon } from './fake-addon.ts';
import {
  buildConfig,
  customPreset,
  getJson,
  makeUser,
  openAddonsHost,
  password,
  readJson,
  fetchStreams,
} from './rig.ts';

let host: TestHost;
let alpha: FakeAddon;
beforeAll(async () => {
  host = await openAddonsHost();
  alpha = await openFakeAddon({ streams: alphaStreams });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await alpha[Symbol.asyncDispose]();
});

const basic = (uuid: string, secret = password): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${uuid}:${secret}`).toString('base64')}`,
});
/** Routes for the page. */
const page = async (method: string, path: string, body?: object): Promise<any> => {
  const reply = await fetch(`${host.url('control')}/api/addons/profiles${path}`, {
    method,
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, body: await readJson(reply) };
};
const filenames = async (base: string): Promise<string[]> =>
  (await fetchStreams(base)).map(({ name }: any) => String(name).split('\n')[0] ?? '');

describe('inheritance', () => {
  it('follows the parent by its address and reports a missing parent', async () => {
    const parent = await makeUser(host, buildConfig([customPreset('a', 'Alpha', alpha.manifestUrl)]));
    const parentConfig = { uuid: parent.uuid, password };
    const child = await makeUser(
      host,
      buildConfig([], { addonName: 'Child', parentConfig, excludedQualities: ['HDTV'] }),
    );
    expect(await filenames(child.base)).toHaveLength(alphaStreams.length - 1);
    expect((await getJson(child.manifestUrl)).name).toBe('Child');
    const changed = buildConfig([customPreset('a', 'Renamed', alpha.manifestUrl)], { excludedResolutions: ['1080p'] });
    await fetch(`${host.url('addons')}/api/v1/user`, {
      method: 'PUT',
      headers: basic(parent.uuid),
      body: JSON.stringify({ config: changed }),
    });
    const names = await filenames(child.base);
    expect(names).toHaveLength(alphaStreams.length - 3);
    expect(names[0]).toContain('Renamed');
    await fetch(`${host.url('addons')}/api/v1/user`, { method: 'DELETE', headers: basic(parent.uuid) });
    const [errorItem] = await fetchStreams(child.base);
    expect(errorItem.description).toBe(m.parentNotFound());
  });

  it('uses the current password of the parent on the page, and does not allow a cycle', async () => {
    const parent = (await page('POST', '', { config: buildConfig([customPreset('a', 'Alpha', alpha.manifestUrl)]) }))
      .body;
    const inheriting = (uuid: string): object => ({
      config: buildConfig([], { parentConfig: { uuid, password: '' } }),
    });
    const child = (await page('POST', '', inheriting(parent.uuid))).body;
    const base = `${host.url('addons')}${String(child.installPath).replace('/manifest.json', '')}`;
    expect(await fetchStreams(base)).toHaveLength(alphaStreams.length);
    expect(await page('PUT', `/${String(child.uuid)}`, inheriting(child.uuid))).toMatchObject({
      status: 400,
      body: { error: { detail: m.parentIsItself() } },
    });
    const otherUser = await makeUser(host, buildConfig([]));
    expect((await page('PUT', `/${String(child.uuid)}`, inheriting(otherUser.uuid))).status).toBe(404);
    expect((await page('PUT', `/${String(child.uuid)}`, inheriting(parent.uuid))).status).toBe(200);
  });
});

describe('a configuration without its parent', () => {
  const sentence = m.parentNotFound();
  const list = async (): Promise<string[]> => {
    const reply = await page('GET', '');
    expect(reply.status).toBe(200);
    return reply.body.profiles.map(({ uuid }: any) => uuid);
  };

  it('is listed, returned and editable, like the others', async () => {
    const parent = (await page('POST', '', { config: buildConfig([]) })).body.uuid;
    const parentConfig = { uuid: parent, password: '' };
    const child = (await page('POST', '', { config: buildConfig([], { addonName: 'Child', parentConfig }) })).body.uuid;
    const otherUuid = (await page('POST', '', { config: buildConfig([]) })).body.uuid;
    await page('DELETE', `/${String(parent)}`);
    expect(await list()).toEqual(expect.arrayContaining([child, otherUuid]));
    const profileResponse = await page('GET', `/${String(child)}`);
    expect(profileResponse).toMatchObject({ status: 200, body: { config: { addonName: 'Child' }, notes: [sentence] } });
    const renamed = { config: { ...profileResponse.body.config, addonName: 'Renamed' } };
    expect(await page('PUT', `/${String(child)}`, renamed)).toMatchObject({
      status: 400,
      body: { error: { detail: sentence } },
    });
    const withoutParent = { config: { ...renamed.config, parentConfig: null } };
    expect((await page('PUT', `/${String(child)}`, withoutParent)).status).toBe(200);
    expect((await page('GET', `/${String(child)}`)).body).toMatchObject({
      config: { addonName: 'Renamed' },
      notes: [],
    });
  });

  it('can be edited through the user API of AIOStreams', async () => {
    const parent = await makeUser(host, buildConfig([]));
    const child = await makeUser(host, buildConfig([], { parentConfig: { uuid: parent.uuid, password } }));
    const user = `${host.url('addons')}/api/v1/user`;
    await fetch(user, { method: 'DELETE', headers: basic(parent.uuid) });
    const raw = await getJson(`${user}?raw=true`, { headers: basic(child.uuid) });
    expect(raw.data.userData.parentConfig.uuid).toBe(parent.uuid);
    const newPassword = 'another-pass-2';
    const changed = await fetch(`${user}/password`, {
      method: 'POST',
      headers: { ...basic(child.uuid), 'content-type': 'application/json' },
      body: JSON.stringify({ newPassword }),
    });
    expect(changed.status).toBe(200);
    const headers = basic(child.uuid, newPassword);
    const body = JSON.stringify({ config: buildConfig([]) });
    expect((await fetch(user, { method: 'PUT', headers, body })).status).toBe(200);
    expect((await fetch(user, { headers })).status).toBe(200);
  });

  it('is not created, and existing configurations cannot become one', async () => {
    const { uuid } = (await page('POST', '', { config: buildConfig([], { addonName: 'Whole' }) })).body;
    const before = await list();
    const parentConfig = { uuid: '00000000-0000-4000-8000-000000000000', password };
    const orphan = { config: buildConfig([], { addonName: 'Lost', parentConfig }) };
    const refused = { status: 400, body: { error: { detail: sentence } } };
    expect(await page('POST', '', orphan)).toMatchObject(refused);
    expect(await page('PUT', `/${String(uuid)}`, orphan)).toMatchObject(refused);
    expect(await page('PUT', `/${String(uuid)}?merge=yes`, orphan)).toMatchObject(refused);
    expect(await list()).toEqual(before);
    expect((await page('GET', `/${String(uuid)}`)).body.config.addonName).toBe('Whole');
  });
});

describe('an addon of several configurations', () => {
  it('has the name, position and permissions of each configuration, and shares one request', async () => {
    await using up = await openFakeAddon({ streams: alphaStreams.slice(0, 2) });
    await using last = await openFakeAddon({ streams: alphaStreams.slice(2, 3) });
    const config = (name: string, overrides: object = {}): Record<string, unknown> =>
      buildConfig([customPreset('l', 'Last', last.manifestUrl), customPreset('u', name, up.manifestUrl, overrides)], {
        sortCriteria: { global: [{ key: 'library' }] },
        excludedQualities: ['WEB-DL'],
      });
    const firstProfile = await makeUser(host, config('One', { pinPosition: 'top' }));
    const two = await makeUser(host, config('Two', { resultPassthrough: true }));
    expect(await filenames(firstProfile.base)).toEqual(['[RD+] One 2160p', 'Last 720p']);
    expect(await filenames(two.base)).toEqual(['Last 720p', '[RD+] Two 2160p', '[TB download] Two 1080p']);
    await fetch(`${host.url('addons')}/api/v1/user`, {
      method: 'PUT',
      headers: basic(firstProfile.uuid),
      body: JSON.stringify({ config: config('Other', { libraryAddon: true }) }),
    });
    expect(await filenames(firstProfile.base)).toEqual(['[RD+] Other 2160p', 'Last 720p']);
    expect(await filenames(two.base)).toHaveLength(3);
    expect(up.requests.filter((path) => path.includes('/stream/'))).toHaveLength(1);
  });
});

describe('exported configurations', () => {
  const secrets = {
    services: [{ id: 'torbox', enabled: true, credentials: { apiKey: 'SECRET1' } }],
    ...{ tmdbApiKey: 'SECRET2', tmdbAccessToken: 'SECRET3', rpdbApiKey: 'SECRET4', accessKey: 'SECRET5' },
    ...{ addonPassword: 'SECRET6', proxy: { enabled: true, credentials: 'SECRET7' } },
  };

  it('contains no credentials unless the client requests them', async () => {
    const config = buildConfig([customPreset('a', 'Alpha', alpha.manifestUrl, { apiKey: 'SECRET8' })], secrets);
    const { uuid } = await makeUser(host, config);
    const address = `${host.url('addons')}/export`;
    const redactedExport = await (await fetch(address, { headers: basic(uuid) })).text();
    expect(redactedExport).not.toContain('SECRET');
    expect(JSON.parse(redactedExport)).toMatchObject({
      services: [{ id: 'torbox', credentials: {} }],
      proxy: { enabled: true },
    });
    const completeExport = await (await fetch(`${address}?includeCredentials=true`, { headers: basic(uuid) })).text();
    // Passwords of this service are not part of a configuration.
    expect(completeExport.match(/SECRET\d/g)?.toSorted()).toEqual(
      ['1', '2', '3', '4', '7', '8'].map((digit) => `SECRET${digit}`),
    );
    const createdProfile = (await page('POST', '', { config })).body;
    const profileResponse = await page('GET', `/${String(createdProfile.uuid)}?without=keys`);
    expect(JSON.stringify(profileResponse.body)).not.toContain('SECRET');
    expect(JSON.stringify((await page('GET', `/${String(createdProfile.uuid)}`)).body)).toContain('SECRET8');
  });

  it('replaces a configuration, or is merged into it', async () => {
    const config = buildConfig([customPreset('a', 'Alpha', alpha.manifestUrl)], { addonName: 'Old', ...secrets });
    const { uuid } = (await page('POST', '', { config })).body;
    const file = buildConfig([], { addonName: 'New' });
    const { presets: _presets, services: _services, ...part } = file;
    await page('PUT', `/${String(uuid)}?merge=yes`, { config: part });
    const merged = (await page('GET', `/${String(uuid)}`)).body.config;
    expect(merged).toMatchObject({ addonName: 'New', services: secrets.services, tmdbApiKey: 'SECRET2' });
    expect(merged.presets).toHaveLength(1);
    await page('PUT', `/${String(uuid)}`, { config: file });
    const replaced = (await page('GET', `/${String(uuid)}`)).body.config;
    expect([replaced.presets, replaced.services, replaced.tmdbApiKey]).toEqual([[], [], undefined]);
  });

  const parentUuid = async (): Promise<string> => (await page('POST', '', { config: buildConfig([]) })).body.uuid;
  const script =
    "set addonName = 'Phone' # by password\nset tmdbApiKey = 'SECRET20'\nmerge proxy = {\n'auth': " +
    "'SECRET21'}\nmerge posters = {'source': 'q', apiKey: 'SECRET23'}";
  const deep = (parent: string): Record<string, unknown> =>
    buildConfig(
      [
        customPreset('a', 'Alpha', alpha.manifestUrl, {
          ...{ proxyAuth: 'ada:SECRET10', api: { url: 'http://a.example', apiKey: 'SECRET11' }, useAuth: true },
          ...{ indexers: [{ id: 'one', api_key: 'SECRET12' }], headers: { Cookie: 'SECRET13', Accept: 'all' } },
        }),
      ],
      {
        ...secrets,
        services: [{ id: 'easynews', enabled: true, credentials: { username: 'ada', password: 'SECRET14' } }],
        proxy: { enabled: true, url: 'http://ada:SECRET15@proxy.example/x@y', credentials: 'SECRET16' },
        posters: { source: 'p', token: 'SECRET17' },
        openposterdbUrl: 'http://ada:SECRET24@nas.lan:3000/?token=SECRET25',
        openposterdbParameters: '?lang=de&key=SECRET26&apiKey=SECRET27&fallback=true',
        variants: [
          { id: 'phone', script },
          { id: 'tv', script: "set addonName = 'TV' # large" },
          { id: 'away', script: "set proxy.url = 'http://ada:SECRET22@proxy.example'" },
          { id: 'child', script: "set openposterdbParameters = 'lang=de&key=SECRET28'" },
        ],
        parentConfig: { uuid: parent, password: 'SECRET18' },
      },
    );

  it('contains no nested keys in scripts or in the address of the proxy', async () => {
    const { uuid } = (await page('POST', '', { config: deep(await parentUuid()) })).body;
    const { config } = (await page('GET', `/${String(uuid)}?without=keys`)).body;
    expect(JSON.stringify(config)).not.toContain('SECRET');
    expect(config).toMatchObject({
      presets: [
        {
          options: {
            api: { url: 'http://a.example' },
            indexers: [{ id: 'one' }],
            headers: { Accept: 'all' },
            useAuth: true,
          },
        },
      ],
      proxy: { enabled: true, url: 'http://proxy.example/x@y' },
      posters: { source: 'p' },
      variants: [
        { script: "set addonName = 'Phone'" },
        { script: "set addonName = 'TV' # large" },
        { script: "set proxy.url = 'http://proxy.example'" },
        { script: "set openposterdbParameters = 'lang=de&key='" },
      ],
      openposterdbUrl: 'http://nas.lan:3000/?token=',
      openposterdbParameters: '?lang=de&key=&apiKey=&fallback=true',
    });
  });

  it('are merged into the original without losing its keys', async () => {
    const { uuid } = (await page('POST', '', { config: deep(await parentUuid()) })).body;
    const path = `/${String(uuid)}`;
    const { config: completeExport } = (await page('GET', path)).body;
    const { uuid: _uuid, ...redactedExport } = (await page('GET', `${path}?without=keys`)).body.config;
    await page('PUT', `${path}?merge=yes`, { config: redactedExport });
    expect((await page('GET', path)).body.config).toEqual(completeExport);

    // The file replaces values that were edited in the meantime, and keys are preserved.
    const [preset] = redactedExport.presets;
    const renamed = { ...preset, options: { name: 'Renamed', api: { url: 'http://b.example' } } };
    const services = [{ id: 'torbox', credentials: { apiKey: 'NEW' } }, ...redactedExport.services];
    await page('PUT', `${path}?merge=yes`, { config: { ...redactedExport, presets: [renamed], services } });
    const edited = (await page('GET', path)).body.config;
    expect(edited.presets[0].options).toEqual({
      ...completeExport.presets[0].options,
      ...{ name: 'Renamed', api: { url: 'http://b.example', apiKey: 'SECRET11' } },
    });
    expect(edited.services.map(({ credentials }: any) => credentials)).toEqual([
      { apiKey: 'NEW' },
      { username: 'ada', password: 'SECRET14' },
    ]);

    const stranger = { ...preset, type: 'other', enabled: false, options: {} };
    await page('PUT', `${path}?merge=yes`, { config: { presets: [stranger] } });
    expect(JSON.stringify((await page('GET', path)).body.config.presets)).not.toContain('SECRET');
  });
});

describe('responses', () => {
  it('are compressed if the player supports it, and answered with 304 if unchanged', async () => {
    const streams = Array.from({ length: 50 }, (_, index) => ({
      url: `http://h.example/${String(index)}`,
      behaviorHints: { filename: `A.Film.2019.1080p.WEB-DL-G${String(index)}.mkv` },
    }));
    await using many = await openFakeAddon({ streams });
    const { base } = await makeUser(host, buildConfig([customPreset('m', 'Many', many.manifestUrl)]));
    const path = `${base}/stream/movie/tt1.json`;
    const uncompressed = await fetchEncoded(path, 'identity');
    const packed = await fetchEncoded(path, 'br;q=1, gzip');
    expect([uncompressed.encoding, packed.encoding]).toEqual([undefined, 'gzip']);
    expect(gunzipSync(packed.body).toString()).toBe(uncompressed.body.toString());
    expect(packed.body.length).toBeLessThan(uncompressed.body.length / 5);
    expect((await fetchEncoded(path, 'gzip;q=0')).encoding).toBeUndefined();
    const { headers } = await fetch(path);
    const revalidated = await fetch(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    expect([revalidated.status, (await revalidated.arrayBuffer()).byteLength]).toEqual([304, 0]);
  });

  const fetchEncoded = (url: string, encoding: string): Promise<{ encoding: string | undefined; body: Buffer }> =>
    new Promise((resolve, reject) => {
      get(url, { headers: { 'accept-encoding': encoding } }, (response) => {
        const chunks: Buffer[] = [];
        response
          .on('data', (part: Buffer) => chunks.push(part))
          .once('end', () => resolve({ encoding: response.headers['content-encoding'], body: Buffer.concat(chunks) }));
      }).once('error', reject);
    });
});
