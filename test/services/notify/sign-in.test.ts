import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigurationStore } from '../../../services/notify/store/configurations.ts';
import { Settings } from '../../../services/notify/settings.ts';
import { notify } from '../../../services/notify/index.ts';
import type { Context } from '../../../services/contracts/service.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe } from './support.ts';

let host: TestHost;
let context: Context;

/** Opens the service with the settings of a user. */
const closed = {
  ...notify,
  create: (serviceContext: Context, settings: Parameters<typeof notify.create>[1]) => {
    context = serviceContext;
    return notify.create(serviceContext, { ...settings, requireSignIn: true });
  },
};

beforeAll(async () => {
  host = await openTestHost({ services: [createProbe(['inbox', 'push']).descriptor, closed] });
  await context.accounts.create({
    name: 'nas',
    kind: 'service',
    password: 'a long password',
    grants: [{ service: 'notify', resource: 'aggregator', permission: 'read-write' }],
  });
});
afterAll(() => host[Symbol.asyncDispose]());

async function status(path: string, authorization?: string): Promise<number> {
  const reply = await fetch(host.url('notify') + path, {
    method: path.startsWith('/json') ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
    ...(path.startsWith('/json') ? {} : { body: JSON.stringify({ body: 'x', urls: 'json://u:hidden@127.0.0.1:1/' }) }),
  });
  return reply.status;
}

describe('with sign-in required', () => {
  const nas = `Basic ${Buffer.from('nas:a long password').toString('base64')}`;

  it('refuses requests without credentials', async () => {
    for (const path of [
      '/notify/aggregator',
      '/notify',
      '/add/x',
      '/get/aggregator',
      '/del/aggregator',
      '/json/urls/aggregator',
    ]) {
      expect([path, await status(path)]).toEqual([path, 401]);
    }
  });

  it('allows an account to send to granted keys only', async () => {
    expect(await status('/notify/aggregator', nas)).toBe(200);
    expect(await status('/notify/other', nas)).toBe(403);
    expect(await status('/notify', nas)).toBe(403);
    expect(await status('/get/aggregator', nas)).toBe(403);
    expect(await status('/add/aggregator', nas)).toBe(403);
    expect(await status('/json/urls/aggregator', nas)).toBe(200);
  });

  it('permits everything to administrators, and secrets only to them', async () => {
    expect(await status('/add/secret', adminAuthorization)).toBe(200);
    expect(await status('/get/secret', adminAuthorization)).toBe(200);
    await context.accounts.change('nas', { grants: [{ service: 'notify', resource: '*', permission: 'read' }] });
    const list = async (authorization: string): Promise<string> =>
      (await fetch(`${host.url('notify')}/json/urls/secret`, { headers: { authorization } })).text();
    expect(await list(adminAuthorization)).toContain('hidden');
    expect(await list(nas)).toContain('****');
  });
});

describe('export and import of the keys', () => {
  it('restores the exported keys, sealed or unencrypted, and names an invalid field', async () => {
    // Another instance writes to the tables, so cached rows may be stale.
    const service = notify.create({ ...context, singleHost: false, metrics: silentMetrics }, Settings.parse({}));
    const { portable } = service;
    await fetch(`${host.url('notify')}/add/trip`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: adminAuthorization },
      body: JSON.stringify({ config: '# kept\njson://u:pa55word@h/', format: 'text' }),
    });
    await new ConfigurationStore(context.db, context.vault).saveSecret('trip', 'signing-w0rd', 1);
    const sealed = await portable?.export({ secrets: false });
    const readable = await portable?.export({ secrets: true });
    expect(JSON.stringify(sealed)).not.toContain('pa55word');
    expect(JSON.stringify(readable)).toContain('pa55word');
    expect(JSON.stringify(sealed)).not.toContain('signing-w0rd');
    expect(readable).toMatchObject({
      keys: expect.arrayContaining([expect.objectContaining({ secret: 'signing-w0rd' })]) as [],
    });
    for (const data of [sealed, readable]) {
      await portable?.import({ keys: [] });
      expect(await portable?.export({ secrets: true })).toEqual({ keys: [] });
      await portable?.import(data);
      expect(await portable?.export({ secrets: true })).toEqual(readable);
    }
    await expect(portable?.import({ keys: [{ key: 'no!', config: '' }] })).rejects.toMatchObject({
      fields: { 'keys.0.key': expect.any(String) },
    });
    expect(await portable?.export({ secrets: true })).toEqual(readable);
  });
});

const silentMetrics: Context['metrics'] = {
  counter: () => ({ inc() {} }),
  gauge: () => ({ set() {} }),
  histogram: () => ({ observe() {} }),
};
