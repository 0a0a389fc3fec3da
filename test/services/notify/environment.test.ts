import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { api } from '../../support/api.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, openReceiver } from './support.ts';

let open = new AsyncDisposableStack();
let host: TestHost;
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

async function openNotify(environment: Readonly<Record<string, string>>): Promise<void> {
  const services = [createProbe(['inbox', 'push']).descriptor, notify, control];
  host = open.use(await openTestHost({ services, environment }));
}

async function post(path: string, fields: unknown) {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(host.url('notify') + path, { method: 'POST', headers, body: JSON.stringify(fields) });
  return { status: reply.status, text: await reply.text() };
}
const get = (path: string, accept = 'application/json') =>
  fetch(host.url('notify') + path, { headers: { accept }, redirect: 'manual' });
const file = (bytes: number) => ({ filename: 'a.bin', base64: Buffer.alloc(bytes, 1).toString('base64') });

describe('the environment of Apprise API', () => {
  it.each([
    [{ APPRISE_DENY_SERVICES: 'jsons, syslog' }, ['push']],
    [{ APPRISE_ALLOW_SERVICES: 'json', APPRISE_DENY_SERVICES: 'json' }, ['JSON']],
  ])('filters destination kinds by %j', async (environment, services) => {
    await openNotify(environment);
    const { port } = open.use(await openReceiver());
    const destinationUrl = `json://127.0.0.1:${port}/`;
    const added = await post('/add/k', { config: `${destinationUrl}\npush://phone\n`, format: 'text' });
    expect(added).toMatchObject({ status: 200, text: expect.stringContaining('disabled in the settings') as string });
    const listed = (await (await get('/json/urls/k')).json()) as { urls: { service_name: string }[] };
    expect(listed.urls.map(({ service_name }) => service_name.replace('Push', 'push'))).toEqual(services);
    const { details } = JSON.parse((await post('/notify/k', { body: 'x' })).text) as { details: string[][] };
    expect(details).toHaveLength(1);
    const allowed = 'APPRISE_ALLOW_SERVICES' in environment;
    expect(await post('/notify', { urls: destinationUrl, body: 'x' })).toMatchObject({ status: allowed ? 200 : 204 });
    expect(await post('/add/other', { urls: allowed ? 'push://x' : destinationUrl })).toMatchObject({ status: 400 });
    const { keys } = await api<{ keys: { key: string; skipped: { reason: string }[] }[] }>(
      host.url('control'),
      '/api/notify/keys',
    );
    expect(keys.find(({ key }) => key === 'k')?.skipped).toMatchObject([
      { reason: expect.stringContaining('disabled in the settings') as string },
    ]);
  });

  it('limits files in MiB, configurations in KiB and the depth of mappings', async () => {
    await openNotify({
      APPRISE_ATTACH_SIZE: '1',
      APPRISE_CONFIG_MAX_LENGTH: '1',
      APPRISE_WEBHOOK_MAPPING_MAX_DEPTH: '2',
    });
    expect(await (await get('/status')).json()).toMatchObject({ attach_size: 1_048_576 });
    expect(await post('/notify/aggregator', { body: 'x', attach: file(1_000_000) })).toMatchObject({ status: 200 });
    expect(await post('/notify/aggregator', { body: 'x', attach: file(1_100_000) })).toMatchObject({ status: 400 });
    const config = (length: number) => ({ config: `inbox://\n# ${'x'.repeat(length)}`, format: 'text' });
    expect(await post('/add/k', config(900))).toMatchObject({ status: 200 });
    expect(await post('/add/k', config(1100))).toMatchObject({ status: 400 });
    expect(await post('/notify/aggregator?:a.b=body', { a: { b: 'x' } })).toMatchObject({ status: 200 });
    expect(await post('/notify/aggregator?:a.b.c=body', { a: { b: { c: 'x' } } })).toMatchObject({ status: 400 });
  });

  it.each([
    ['a host of one’s own that is named', { APPRISE_ATTACH_ALLOW_URL: '127.0.0.1' }, 200],
    ['not by a wildcard, which reaches public hosts alone', { APPRISE_ATTACH_ALLOW_URL: '127.*' }, 400],
    [
      'not what is denied',
      { APPRISE_ATTACH_ALLOW_URL: '127.0.0.1', APPRISE_ATTACH_REJECT_URL: '127.0.0.?/pic* x' },
      400,
    ],
    ['not what no list allows', { APPRISE_ATTACH_ALLOW_URL: 'https://*.example.org, other' }, 400],
  ])('permits files from %s', async (_case, environment, status) => {
    await openNotify(environment);
    const { port } = open.use(await openReceiver());
    const attach = `http://127.0.0.1:${port}/pic.bin`;
    expect(await post('/notify/aggregator', { body: 'x', attach })).toMatchObject({ status });
  });

  it('can forbid redirects for all destinations', async () => {
    await openNotify({ APPRISE_HTTP_REDIRECTS: 'no' });
    const server = createServer((_request, response) => response.writeHead(307, { location: '/other' }).end());
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    open.defer(() => void server.close());
    const { port } = server.address() as { port: number };
    const reply = await post('/notify', { urls: `json://127.0.0.1:${port}/`, body: 'x' });
    expect(reply).toMatchObject({
      status: 424,
      text: expect.stringContaining('redirects to another address') as string,
    });
  });

  it('can close the keys to programs, which then send to their own destinations', async () => {
    await openNotify({ APPRISE_STATEFUL_MODE: 'disabled' });
    expect(await post('/notify/aggregator', { body: 'x' })).toMatchObject({ status: 204 });
    for (const path of ['/add/k', '/get/aggregator', '/del/aggregator']) {
      expect(await post(path, { urls: 'inbox://' })).toMatchObject({ status: 403 });
    }
    expect((await get('/json/urls/aggregator')).status).toBe(204);
    expect(await (await get('/status')).json()).toMatchObject({ stateful_enabled: false });
    expect(await post('/notify', { urls: 'inbox://', body: 'x' })).toMatchObject({ status: 200 });
  });

  it('lists the keys if it is enabled', async () => {
    await openNotify({ APPRISE_ADMIN: 'yes' });
    expect(await (await get('/cfg')).json()).toEqual(['aggregator']);
    expect((await get('/cfg', 'text/html')).status).toBe(302);
  });
});
