import { afterAll, beforeAll, expect, it } from 'vitest';
import { api } from '../../support/api.ts';
import type { TestHost } from '../../support/host.ts';
import { alphaStreams, openFakeAddon, type FakeAddon } from './fake-addon.ts';
import { buildConfig, customPreset, makeUser, openAddonsHost, password } from './rig.ts';

let host: TestHost;
let upstream: FakeAddon;
beforeAll(async () => {
  upstream = await openFakeAddon({ streams: alphaStreams });
  host = await openAddonsHost();
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const importFrom = (body: object) =>
  api<any>(host.url('control'), '/api/addons/profiles/import', { method: 'POST', body: JSON.stringify(body) });

it('imports an installed configuration with its password', async () => {
  const config = buildConfig([customPreset('a', 'Alpha', upstream.manifestUrl)], { addonName: 'Shared' });
  const { manifestUrl } = await makeUser(host, config);
  const profile = await importFrom({ address: manifestUrl, password });
  expect(profile).toMatchObject({ name: 'Shared', addons: ['Alpha'] });
  expect(manifestUrl).not.toContain(profile.uuid);
});

it('asks for the password of an installed configuration and refuses a wrong one', async () => {
  const { manifestUrl } = await makeUser(host, buildConfig([]));
  await expect(importFrom({ address: manifestUrl })).rejects.toThrow('addons.import_password');
  await expect(importFrom({ address: manifestUrl, password: 'not this one' })).rejects.toThrow('addons.import_refused');
});

it('creates a configuration with the addon of a manifest', async () => {
  const profile = await importFrom({ address: upstream.manifestUrl });
  expect(profile.addons).toHaveLength(1);
});

it('refuses an address without a configuration', async () => {
  await expect(importFrom({ address: `${host.url('addons')}/nothing.json` })).rejects.toThrow('addons.import_refused');
});
