import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markGatewayRequest } from '../../../services/contracts/gateway.ts';
import { control } from '../../../services/control/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { api } from '../../support/api.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe } from './support.ts';

const password = 'hidden-hidden-4';
let host: TestHost;
/** Marks requests as forwarded by the gateway. */
let byGateway = false;

const proxiedNotify: typeof notify = {
  ...notify,
  create(context, settings) {
    const service = notify.create(context, settings);
    const http = (request: IncomingMessage, response: ServerResponse): void => {
      if (byGateway) markGatewayRequest(request);
      void service.http?.(request, response);
    };
    return new Proxy(service, {
      get(target, name) {
        if (name === 'http') return http;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  },
};

beforeAll(async () => {
  host = await openTestHost({ services: [createProbe(['inbox', 'push']).descriptor, proxiedNotify, control] });
});
afterAll(() => host[Symbol.asyncDispose]());

async function ask(path: string, authorization?: string): Promise<{ status: number; text: string }> {
  const isRead = path.startsWith('/json') || path === '/cfg';
  const reply = await fetch(host.url('notify') + path, {
    method: isRead ? 'GET' : 'POST',
    redirect: 'manual',
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      // Forwarded headers of a client are ignored.
      'x-forwarded-for': '127.0.0.1',
      ...(authorization === undefined ? {} : { authorization }),
    },
    ...(isRead ? {} : { body: JSON.stringify({ body: 'x', urls: `inbox://, json://u:${password}@127.0.0.1:1/` }) }),
  });
  return { status: reply.status, text: await reply.text() };
}

const routes = (key: string): readonly string[] => [
  `/get/${key}`,
  `/cfg/${key}`,
  `/json/urls/${key}`,
  `/add/${key}`,
  `/del/${key}`,
];

async function statuses(key: string, authorization?: string): Promise<readonly number[]> {
  const foundStatuses: number[] = [];
  for (const path of routes(key)) foundStatuses.push((await ask(path, authorization)).status);
  return foundStatuses;
}

const callApp = <T>(method: string, path: string, body?: unknown): Promise<T> =>
  api<T>(host.url('control'), path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });

interface Keys {
  readonly keys: readonly { readonly key: string; readonly options: object; readonly configurableBy: string }[];
}
const find = async (key: string) =>
  (await callApp<Keys>('GET', '/api/notify/keys')).keys.find((entry) => entry.key === key);
const close = async (key: string, closed: boolean) =>
  callApp('PUT', `/api/notify/keys/${key}/options`, { ...(await find(key))?.options, closed });

describe('keys', () => {
  it('are accessible to programs on this computer, as Apprise clients require, and the page shows it', async () => {
    expect((await ask('/add/open')).status).toBe(200);
    expect((await ask('/get/open')).text).toContain(password);
    expect(await find('open')).toMatchObject({ configurableBy: 'programs' });
    expect(await statuses('open')).toEqual([200, 200, 200, 200, 200]);
  });

  it('can be closed individually: only administrators read and change them, all clients can send', async () => {
    await ask('/add/kept');
    await ask('/add/other');
    await close('kept', true);
    expect(await find('kept')).toMatchObject({ configurableBy: 'administrators' });
    expect(await statuses('kept')).toEqual([401, 401, 401, 401, 401]);
    expect((await ask('/get/other')).status).toBe(200);
    expect((await ask('/notify/kept')).status).not.toBe(401);
    expect((await ask('/get/kept', adminAuthorization)).text).toContain(password);
    expect((await ask('/json/urls/kept', adminAuthorization)).text).toContain(password);
    await close('kept', false);
    expect((await ask('/get/kept')).status).toBe(200);
  });

  it('hides both from an account without a grant', async () => {
    await callApp('POST', '/api/accounts', { name: 'bob', password: 'long enough' });
    const bob = `Basic ${Buffer.from('bob:long enough').toString('base64')}`;
    await close('kept', true);
    expect(await statuses('kept', bob)).toEqual([403, 403, 403, 403, 403]);
    await close('kept', false);
  });

  it('are accessible only to administrators through a gateway', async () => {
    byGateway = true;
    try {
      expect(await statuses('kept')).toEqual([401, 401, 401, 401, 401]);
      expect(await statuses('new')).toEqual([401, 401, 401, 401, 401]);
      expect((await ask('/cfg')).status).toBe(401);
      expect((await ask('/get/kept', adminAuthorization)).status).toBe(200);
    } finally {
      byGateway = false;
    }
    expect((await ask('/get/kept')).status).toBe(200);
  });

  it('can all be closed by a setting, which does not affect the pages of the app', async () => {
    await callApp('PATCH', '/api/settings/notify', { closeKeys: true });
    expect(await statuses('kept')).toEqual([401, 401, 401, 401, 401]);
    expect(await statuses('new')).toEqual([401, 401, 401, 401, 401]);
    expect((await ask('/notify/kept')).status).not.toBe(401);
    expect(await find('kept')).toMatchObject({ configurableBy: 'administrators', options: { closed: false } });
    await callApp('POST', '/api/notify/keys', { key: 'made-here', text: 'inbox://' });
    await callApp('PATCH', '/api/settings/notify', { closeKeys: null });
    expect((await ask('/get/made-here')).status).toBe(200);
  });
});
