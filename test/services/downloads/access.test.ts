import * as m from '#messages/downloads-problems';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { downloadsApi } from '../../../services/contracts/downloads/api.ts';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { api } from '../../support/api.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { Client, dataFolderWith, type History } from './rig.ts';

let host: TestHost;
let client: Client;
beforeAll(async () => {
  host = await openTestHost({ services: [downloads, control] });
  client = new Client(host.url('downloads'));
});
afterAll(async () => await host[Symbol.asyncDispose]());

describe('addresses', () => {
  it.each([
    ['http://127.0.0.1:1/x', '127.0.0.1', '127.0.0.1'],
    ['http://2130706433/x', '127.0.0.1', '127.0.0.1'],
    ['http://[::1]/x', '::1', '::1'],
    ['http://[::ffff:10.0.0.1]/x', '::ffff:a00:1', '::ffff:a00:1'],
    ['http://169.254.169.254/latest', '169.254.169.254', '169.254.169.254'],
    ['https://192.168.1.1/', '192.168.1.1', '192.168.1.1'],
  ])('refuses %s as internal and stores the refusal in the history', async (url, address, name) => {
    const msg = `Refusing to fetch internal address "${address}" for host "${name}"`;
    expect(await client.post('/add', { url, quality: 'best' })).toMatchObject({ status: 'error', msg });
    const { done } = await client.get<History>('/history');
    expect(done.at(-1)).toMatchObject({ url, status: 'error', error: msg });
  });

  it('refuses a host whose name resolves to this computer', async () => {
    const response = await client.post('/add', { url: 'http://localhost:1/x', quality: 'best' });
    expect(response.msg).toMatch(/^Refusing to fetch internal address ".+" for host "localhost"$/);
  });
});

describe('web pages', () => {
  const add = async (origin: string): Promise<Response> =>
    await fetch(`${client.base}/add`, {
      method: 'POST',
      headers: { Origin: origin },
      body: '{"url":"x","quality":"best"}',
    });

  it('allows browser extensions to add downloads and read the response', async () => {
    const reply = await add('chrome-extension://abcdefghijklmnop');
    expect(reply.status).toBe(200);
    expect(reply.headers.get('access-control-allow-origin')).toBe('chrome-extension://abcdefghijklmnop');
    expect(reply.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it.each(['https://evil.example', 'null', 'https://x.chrome-extension.example'])(
    'refuses the origin %s',
    async (origin) => {
      const before = (await client.history()).done.length;
      const reply = await add(origin);
      expect(reply.status).toBe(403);
      expect(reply.headers.get('access-control-allow-origin')).toBeNull();
      expect((await client.history()).done).toHaveLength(before);
    },
  );
});

describe('bodies', () => {
  it('refuses bodies that are too large', async () => {
    const reply = await fetch(`${client.base}/add`, { method: 'POST', body: 'x'.repeat(2_000_000) });
    expect([reply.status, await reply.json()]).toEqual([413, expect.objectContaining({ status: 'error' })]);
  });

  it.each([
    ['start', 20_000],
    ['delete', 20_000],
    ['retry', 1000],
    ['pause', 20_000],
    ['resume', 20_000],
    ['reorder', 20_000],
    ['subscriptions/delete', 20_000],
    ['subscriptions/check', 20_000],
  ])(
    'limits the ids of /%s to %i',
    async (route, maxCount) => {
      const post = async (count: number): Promise<readonly [number, string]> => {
        const ids = Array.from({ length: count }, (_, index) => `x${index}`);
        const reply = await fetch(`${client.base}/${route}`, {
          method: 'POST',
          body: JSON.stringify({ ids, where: 'queue' }),
        });
        return [reply.status, await reply.text()];
      };
      expect((await post(maxCount))[0]).toBe(200);
      const [status, text] = await post(maxCount + 1);
      expect([status, JSON.parse(text)]).toMatchObject([
        400,
        { error: `'ids' must have at most ${maxCount} elements` },
      ]);
    },
    60_000,
  );

  it('requires POST for requests with a body', async () => {
    const reply = await fetch(`${client.base}/add`);
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });
});

describe('the app API', () => {
  it('applies the same rules to adding, listing and removing', async () => {
    const base = host.url('control');
    const refused = api(base, '/api/downloads', {
      method: 'POST',
      body: JSON.stringify({ url: 'http://127.0.0.1/x' }),
    });
    await expect(refused).rejects.toThrow(m.internalAddress());
    const { history, total } = z.parse(downloadsApi.list.reply, await api(base, '/api/downloads?limit=1'));
    expect(history).toMatchObject([{ url: 'http://127.0.0.1/x', state: 'failed' }]);
    expect(total).toBeGreaterThan(1);
    const body = JSON.stringify({ uids: history.map(({ uid }) => uid) });
    expect(await api(base, '/api/downloads/remove', { method: 'POST', body })).toEqual({ removed: 1 });
    expect(z.parse(downloadsApi.list.reply, await api(base, '/api/downloads')).total).toBe(total - 1);
  });

  it('is the target of the redirect from the root', async () => {
    const reply = await fetch(`${client.base}/`, { redirect: 'manual' });
    expect([reply.status, reply.headers.get('location')]).toEqual([302, `${host.url('control')}/downloads`]);
  });
});

describe('with sign-in required', () => {
  it('requires an account', async () => {
    const dataDir = dataFolderWith({ requireSignIn: true });
    await using closed = await openTestHost({ services: [downloads], dataDir });
    const url = `${closed.url('downloads')}/history`;
    const reply = await fetch(url);
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('Basic') as string,
    ]);
    expect((await fetch(url, { headers: { Authorization: adminAuthorization } })).status).toBe(200);
    rmSync(dataDir, { recursive: true, force: true });
  });
});
