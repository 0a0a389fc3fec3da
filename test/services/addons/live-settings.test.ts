import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { api } from '../../support/api.ts';
import { openFakeAddon } from './fake-addon.ts';
import { addons } from '../../../services/addons/index.ts';
import { registry } from '../../../main/host/services/registry.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { buildConfig, customPreset, getJson, makeUser, fetchStreams } from './rig.ts';

/** Opens a host whose settings are not fixed by the environment, so that they can change. */
const openHost = async (): Promise<TestHost> =>
  openTestHost({ services: [addons, ...registry.filter(({ id }) => id === 'control')] });

/** Changes settings. Returns the restarted services. */
const change = async (control: string, settings: object): Promise<readonly string[]> => {
  const options = { method: 'PATCH', body: JSON.stringify(settings) };
  return (await api<{ restarted: string[] }>(control, '/api/settings/addons', options)).restarted;
};

it('plays a proxied stream through a change of settings', async () => {
  const rest = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'video/mp4' });
    response.write('first ');
    void rest.promise.then(() => response.end('second'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await using host = await openHost();
  const film = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/film.mp4`;
  await using up = await openFakeAddon({ streams: [{ name: 'Up', title: 'Film.2020.mp4', url: film }] });
  const config = buildConfig([customPreset('u', 'Up', up.manifestUrl)], { proxy: { enabled: true, id: 'builtin' } });
  const { base } = await makeUser(host, config);
  const [stream] = await fetchStreams(base);
  const reply = await fetch(stream.url);
  const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toBe('first ');
  const settings = { addonName: 'Renamed', timeout: 4000, maxAddons: 5, maxCacheSize: 50 };
  expect(await change(host.url('control'), settings)).toEqual([]);
  rest.resolve();
  expect((await reader.read()).value).toBe('second');
  server.close();
});

it('applies settings to the next request without a restart', async () => {
  await using host = await openHost();
  const url = host.url('addons');
  await using up = await openFakeAddon({
    streams: [{ name: 'Up', url: 'http://h.example/x', behaviorHints: { filename: 'Film.2020.HDTV.mkv' } }],
  });
  const presets = [customPreset('u', 'Up', up.manifestUrl), customPreset('v', 'Other', up.manifestUrl)];
  const { base } = await makeUser(host, buildConfig(presets, { excludedRegexPatterns: ['/hdtv/i'] }));
  expect(await fetchStreams(base)).toHaveLength(0);
  await change(host.url('control'), { regexFilterAccess: 'none', maxAddons: 1 });
  const rows = await fetchStreams(base);
  expect(rows.map(({ description }) => description).join('\n')).toMatch(/Regular expressions aren’t allowed/);
  expect(rows.map(({ description }) => description).join('\n')).toMatch(/a configuration can have up to/);
  await change(host.url('control'), {
    addonName: 'Renamed',
    addonPassword: 'one,two',
    baseUrl: 'https://tv.example.org',
  });
  expect((await getJson(`${url}/manifest.json`)).name).toBe('Renamed');
  const { data } = await getJson(`${url}/api/v1/status`);
  expect([data.settings.protected, data.settings.baseUrl]).toEqual([true, 'https://tv.example.org']);
});
