import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { customPreset } from '../services/addons/rig.ts';
import { openAccessHost, type AccessHost } from '../support/access.ts';
import { localName, resolveLocalName } from '../support/local-name.ts';

/** Spellings of this computer. NAT64 addresses lead to the IPv4 address in their last 32 bits. */
const hosts = [
  '127.0.0.1',
  'localhost',
  '0.0.0.0',
  '127.1',
  '2130706433',
  '0x7f000001',
  '017700000001',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  localName,
];

interface Arrival {
  readonly url: string;
  readonly response: ServerResponse;
}

let host: AccessHost;
let folder: string;
let names: Disposable;
const arrivals: Arrival[] = [];
const listen = (message: unknown): void => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  arrivals.push({ url: request.url ?? '', response });
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'own-listener-addresses-'));
  names = resolveLocalName();
  host = await openAccessHost({});
  await host.call('admin', 'git', 'POST', '/api/v1/user/repos', { name: 'hooked', auto_init: true });
  // Emitted for each request that an HTTP server of this process receives.
  subscribe('http.server.request.start', listen);
});
afterAll(async () => {
  unsubscribe('http.server.request.start', listen);
  names[Symbol.dispose]();
  await host[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const sendRequest = (service: string, path: string, body: object, method = 'POST'): Promise<Response> =>
  host.call('admin', service, method, path, body);

async function testWebhook(url: string): Promise<void> {
  const hooks = '/api/v1/repos/ada/hooked/hooks';
  const config = { url, content_type: 'json' };
  const created = await sendRequest('git', hooks, { type: 'gitea', active: true, config });
  // An address may be refused when the webhook is created, or when a delivery fails.
  if (!created.ok) return;
  const { id } = (await created.json()) as { readonly id: number };
  const before = failedDeliveries();
  await sendRequest('git', `${hooks}/${String(id)}/tests`, {});
  await vi.waitUntil(() => failedDeliveries() > before);
  await host.call('admin', 'git', 'DELETE', `${hooks}/${String(id)}`);
}

const failedDeliveries = (): number => host.rig.log.filter((line) => line.includes('deliver-hook')).length;

async function checkMonitor(url: string): Promise<void> {
  const monitor = { type: 'http', name: 'own', url, interval: 86_400, timeout: 5, maxretries: 0 };
  const created = await sendRequest('uptime', '/api/monitors', monitor);
  const { id } = (await created.json()) as { readonly id: number };
  await vi.waitUntil(async () => {
    const beats = await host.call('admin', 'uptime', 'GET', `/api/monitors/${String(id)}/beats`);
    return ((await beats.json()) as { readonly items: readonly unknown[] }).items.length > 0;
  });
}

/** Requests with which an administrator makes Homeport request an address. */
const features: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  'a download': (url) => sendRequest('downloads', '/add', { url, quality: 'best' }),
  'the preview of a download': (url) => sendRequest('control', '/api/downloads/preview', { url }),
  'a subscription of downloads': (url) => sendRequest('control', '/api/downloads/subscriptions', { url }),
  'a migration of Git': (url) => sendRequest('git', '/api/v1/repos/migrate', { clone_addr: url, repo_name: 'stolen' }),
  'a webhook of Git': testWebhook,
  'an addon': (url) => sendRequest('control', '/api/addons/check', { preset: customPreset('a', 'Own', url) }),
  'a destination of notifications': (url) =>
    sendRequest('notify', '/notify', { body: 'x', urls: url.replace(/^http/, 'json') }),
  'an attachment of notifications': (url) =>
    sendRequest('notify', '/notify', { body: 'x', urls: 'json://192.0.2.1/', attach: url }),
  'a browser for web push': (url) =>
    sendRequest('push', '/v1/webpush', { endpoint: url, topics: ['a'], auth: 'x'.repeat(22), p256dh: 'x'.repeat(87) }),
  'a monitor': checkMonitor,
};

describe.each(Object.keys(features))('%s', (name) => {
  it('reaches no listener of Homeport under any of its addresses', async () => {
    const use = features[name];
    for (const entry of hosts) {
      const mark = `/manifest.json?reached=${encodeURIComponent(`${name} ${entry}`)}`;
      await use?.(`http://${entry}:${String(host.rig.port('downloads'))}${mark}`);
    }
    const reached = arrivals.filter(({ url }) => url.includes(`reached=${encodeURIComponent(name)}`));
    expect(reached.map(({ url }) => url)).toEqual([]);
  });
});

describe('a copy of a file from an address', () => {
  it.each(['127.0.0.1', 'localhost', '127.1', '[::ffff:127.0.0.1]'])(
    'is answered by a listener of Homeport at %s as without a sign-in on another computer',
    async (entry) => {
      const mark = `/history?copied=${encodeURIComponent(entry)}`;
      const url = `http://${entry}:${String(host.rig.port('downloads'))}${mark}`;
      await sendRequest('sync', '/operations/copyurl', { fs: folder, remote: 'stolen.json', url });
      const answers = arrivals.filter((arrival) => arrival.url === mark).map(({ response }) => response.statusCode);
      expect(answers.filter((status) => status !== 401 && status !== 403)).toEqual([]);
    },
  );
});
