import { readFileSync, readdirSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { UptimeExport } from '../../../services/contracts/uptime/manage.ts';
import type { Proxy } from '../../../services/contracts/uptime/proxies.ts';
import type { Heartbeat, Monitor } from '../../../services/contracts/uptime/views.ts';
import { accessPassword } from '../../support/access.ts';
import { admin, adminAuthorization } from '../../support/host.ts';
import { openHttpProxy, openSocksProxy } from '../../support/proxy-servers.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';
import { listen, openTarget, openUptime, type Target, type UptimeRig } from './rig.ts';

const credentials = { username: 'ada', password: 'proxy secret' };
let rig: UptimeRig;
let target: Target;
beforeAll(async () => {
  target = await openTarget();
  rig = await openUptime();
});
afterAll(async () => {
  await rig[Symbol.asyncDispose]();
  await target[Symbol.asyncDispose]();
});

const addProxy = (fields: Readonly<Record<string, unknown>>): Promise<Proxy> =>
  rig.call('POST', '/api/proxies', { host: '127.0.0.1', ...fields });
const hourly = { type: 'http', interval: 3600, timeout: 20 };

/** Adds a monitor of the target that uses a proxy, and returns its first heartbeat of a status. */
async function check(proxy: Proxy, status: number, fields: Readonly<Record<string, unknown>> = {}): Promise<Heartbeat> {
  const { id } = await rig.add({ ...hourly, name: 'proxied', url: target.url, proxyId: proxy.id, ...fields });
  return rig.until(id, status);
}

describe('monitor with a proxy', () => {
  it('sends a request without TLS to an HTTP proxy in absolute form', async () => {
    await using server = await openHttpProxy(credentials);
    const proxy = await addProxy({ protocol: 'http', port: server.port, auth: true, ...credentials });
    expect(await check(proxy, 1, { url: `${target.url}/page?a=1` })).toMatchObject({ msg: '200 - OK' });
    expect(server.targets).toEqual([`${target.url}/page?a=1`]);
  });

  it('tunnels TLS through an HTTP proxy, and checks the certificate of the target', async () => {
    await using server = await openHttpProxy(credentials);
    const proxy = await addProxy({ protocol: 'http', port: server.port, auth: true, ...credentials });
    const pem = makeSelfSigned();
    const secured = createTlsServer(pem, (_request, response) => void response.end('fine'));
    const port = await listen(secured);
    const url = `https://127.0.0.1:${String(port)}/`;
    expect(await check(proxy, 1, { url, tlsCa: pem.cert })).toMatchObject({ msg: '200 - OK' });
    expect(await check(proxy, 0, { url })).toMatchObject({ failure: { code: 'certificate_untrusted' } });
    expect(server.targets).toEqual([`127.0.0.1:${String(port)}`, `127.0.0.1:${String(port)}`]);
    secured.close();
  });

  it.each([
    ['socks5', credentials, '127.0.0.1'],
    ['socks5h', credentials, 'localhost'],
    ['socks', undefined, 'localhost'],
    ['socks4', undefined, '127.0.0.1'],
  ] as const)('uses a %s proxy, which receives the target as %s %s', async (protocol, signIn, host) => {
    await using server = await openSocksProxy(signIn);
    const proxy = await addProxy({ protocol, port: server.port, auth: signIn !== undefined, ...signIn });
    const port = String(target.port);
    expect(await check(proxy, 1, { url: `http://localhost:${port}/`, ipFamily: 'ipv4' })).toMatchObject({
      msg: '200 - OK',
    });
    expect(server.targets).toEqual([`${host}:${port}`]);
  });

  it.each(['http', 'socks5'] as const)('is down when the %s proxy rejects its sign-in', async (protocol) => {
    await using server = await (protocol === 'http' ? openHttpProxy(credentials) : openSocksProxy(credentials));
    const wrong = { username: 'ada', password: 'wrong secret' };
    const proxy = await addProxy({ protocol, port: server.port, auth: true, ...wrong });
    const { failure, msg } = await check(proxy, 0);
    const address = `${protocol}://127.0.0.1:${String(server.port)}`;
    expect(failure).toMatchObject({
      code: protocol === 'http' ? 'proxy_sign_in_refused' : 'proxy_refused',
      parameters: { address },
    });
    expect(msg).not.toContain('secret');
  });

  it.each([
    ['password', { username: 'ada', password: 'p'.repeat(256) }, {}],
    ['user name', { username: 'ü'.repeat(200), password: 'secret' }, {}],
    ['host name', credentials, { url: `http://${'a.'.repeat(150)}test/` }],
  ])('is down with a %s that is too long for SOCKS5, and other monitors are checked', async (_, signIn, fields) => {
    await using server = await openSocksProxy(signIn);
    const proxy = await addProxy({ protocol: 'socks5h', port: server.port, auth: true, ...signIn });
    expect((await check(proxy, 0, fields)).failure?.code).toBe('proxy_refused');
    const { id } = await rig.add({ ...hourly, name: 'direct', url: target.url });
    await rig.until(id, 1);
    expect(rig.host.log.join()).not.toContain('checker ended');
  });

  it('names the proxy that cannot be reached', async () => {
    const closed = await openHttpProxy();
    const { port } = closed;
    await closed[Symbol.asyncDispose]();
    const proxy = await addProxy({ protocol: 'http', port });
    expect((await check(proxy, 0)).failure).toEqual({
      code: 'proxy_unreachable',
      parameters: { address: `http://127.0.0.1:${String(port)}`, reason: 'ECONNREFUSED' },
    });
  });

  it('is checked directly while the proxy is inactive and after it was removed', async () => {
    await using server = await openHttpProxy();
    const fields = { protocol: 'http', host: '127.0.0.1', port: server.port };
    const proxy = await addProxy({ ...fields, active: false });
    const { id } = await rig.add({ ...hourly, name: 'direct', url: target.url, proxyId: proxy.id });
    await rig.until(id, 1);
    expect(server.targets).toEqual([]);
    await rig.call('PUT', `/api/proxies/${String(proxy.id)}`, { ...fields, active: true });
    await rig.call('POST', `/api/monitors/${String(id)}/check`);
    expect(server.targets).toEqual([`${target.url}/`]);
    await rig.call('DELETE', `/api/proxies/${String(proxy.id)}`);
    expect(await rig.call('POST', `/api/monitors/${String(id)}/check`)).toMatchObject({ status: 1 });
    expect(server.targets).toHaveLength(1);
    expect(await rig.call<Monitor>('GET', `/api/monitors/${String(id)}`)).toMatchObject({ proxyId: null });
  });

  it('is not checked with a proxy that does not exist', async () => {
    const { id } = await rig.add({ ...hourly, name: 'unknown', url: target.url, proxyId: 9999 });
    expect((await rig.until(id, 0)).failure).toEqual({ code: 'proxy_missing', parameters: {} });
  });

  it('cannot reach Homeport or metadata addresses through a proxy, nor use Homeport as a proxy', async () => {
    await using http = await openHttpProxy();
    await using socks = await openSocksProxy();
    const proxies = [
      await addProxy({ protocol: 'http', port: http.port }),
      await addProxy({ protocol: 'socks5h', port: socks.port }),
    ];
    for (const proxy of proxies) {
      expect((await check(proxy, 0, { url: `${rig.url}/api/overview` })).failure?.code).toBe('own_port_refused');
      const local = rig.url.replace('127.0.0.1', 'localhost');
      expect((await check(proxy, 0, { url: `${local}/api/overview` })).failure?.code).toBe('own_port_refused');
      const metadata = { url: 'http://169.254.169.254/latest/' };
      expect((await check(proxy, 0, metadata)).failure?.code).toBe('link_local_refused');
    }
    expect([http.targets, socks.targets]).toEqual([[], []]);
    const own = await addProxy({ protocol: 'http', port: Number(new URL(rig.url).port) });
    expect((await check(own, 0)).failure?.code).toBe('own_port_refused');
  });

  it('does not follow a redirect of a proxied target to a blocked address', async () => {
    await using redirecting = await openTarget((_request, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    );
    await using server = await openHttpProxy();
    const proxy = await addProxy({ protocol: 'http', port: server.port });
    expect((await check(proxy, 0, { url: redirecting.url })).failure?.code).toBe('link_local_refused');
    expect(server.targets).toEqual([`${redirecting.url}/`]);
  });
});

describe('proxy list', () => {
  it('keeps the password when a change does not name it, and never returns it', async () => {
    await using server = await openHttpProxy(credentials);
    const fields = { protocol: 'http', host: '127.0.0.1', port: server.port, auth: true, username: 'ada' };
    const proxy = await addProxy({ ...fields, password: credentials.password });
    await rig.call('PUT', `/api/proxies/${String(proxy.id)}`, { ...fields, name: 'Office' });
    await check(proxy, 1);
    const list = await (await rig.raw('GET', '/api/proxies')).text();
    expect(list).toContain('"name":"Office"');
    expect(list + JSON.stringify(await rig.call('GET', '/api/export'))).not.toContain('secret');
    expect(rig.host.log.join()).not.toContain('proxy secret');
  });

  it('stores passwords sealed', () => {
    const files = readdirSync(rig.host.dataDir, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /uptime.*(db|wal)$/.test(name),
    );
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(readFileSync(join(rig.host.dataDir, file)).includes('proxy secret')).toBe(false);
  });

  it.each([
    [{ protocol: 'ftp', port: 21 }],
    [{ protocol: 'http', port: 0 }],
    [{ protocol: 'http', port: 80, host: 'http://proxy' }],
    [{ protocol: 'http', port: 80, host: 'user@proxy' }],
  ])('rejects %j', async (fields) => {
    const reply = await rig.raw('POST', '/api/proxies', { host: '127.0.0.1', ...fields });
    expect(reply.status).toBe(400);
  });

  it('has at most one default', async () => {
    const first = await addProxy({ protocol: 'http', port: 3128, default: true });
    const second = await addProxy({ protocol: 'http', port: 3129, default: true });
    const { items } = await rig.call<{ items: Proxy[] }>('GET', '/api/proxies');
    expect(items.filter((one) => one.default).map(({ id }) => id)).toEqual([second.id]);
    expect(first.default).toBe(true);
  });
});

describe('proxies of Uptime Kuma clients', () => {
  it('are listed with their sign-in for writers only, and apply to existing monitors on request', async () => {
    await using kuma = await openUptime();
    await fetch(`${kuma.host.url('control')}/api/accounts`, {
      method: 'POST',
      headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'reader',
        password: accessPassword,
        grants: [{ service: 'uptime', resource: '*', permission: 'read' }],
      }),
    });
    const { id } = await kuma.add({ ...hourly, name: 'web', url: target.url, active: false });
    const lists: Record<string, unknown[]> = { admin: [], reader: [] };
    const connect = async (name: string, username: string, password: string) => {
      const socket = io(kuma.url, { transports: ['websocket'], forceNew: true, reconnection: false });
      socket.on('proxyList', (list: unknown) => lists[name]?.push(list));
      await socket.timeout(30_000).emitWithAck('login', { username, password, token: '' });
      return socket;
    };
    const writer = await connect('admin', admin.name, admin.password);
    const reader = await connect('reader', 'reader', accessPassword);
    try {
      const fields = { protocol: 'socks5', host: 'proxy.lan', port: 1080, auth: true, ...credentials };
      const call = (...event: [string, ...unknown[]]) =>
        writer.timeout(30_000).emitWithAck(...event) as Promise<{ id: number }>;
      const added = await call('addProxy', { ...fields, active: true, default: false, applyExisting: true }, null);
      expect(added).toMatchObject({ ok: true, msg: 'Saved.', id: expect.any(Number) });
      await vi.waitUntil(() => JSON.stringify(lists['reader']).includes('proxy.lan'));
      expect(lists['admin']?.at(-1)).toMatchObject([{ id: added.id, ...fields }]);
      expect(JSON.stringify(lists['reader'])).not.toMatch(/ada|secret/);
      expect(await kuma.call<Monitor>('GET', `/api/monitors/${String(id)}`)).toMatchObject({ proxyId: added.id });
      const refused = (await reader.timeout(30_000).emitWithAck('deleteProxy', added.id)) as object;
      expect(refused).toMatchObject({ ok: false });
      expect(await call('deleteProxy', added.id)).toMatchObject({ ok: true, msg: 'successDeleted' });
      expect(await kuma.call<Monitor>('GET', `/api/monitors/${String(id)}`)).toMatchObject({ proxyId: null });
    } finally {
      writer.disconnect();
      reader.disconnect();
    }
  });
});

describe('proxies of files', () => {
  it('are exported without password and imported for their monitors', async () => {
    await using source = await openUptime();
    await using copy = await openUptime();
    const fields = { protocol: 'http', host: 'proxy.lan', port: 3128, auth: true, ...credentials };
    const proxy = await source.call<Proxy>('POST', '/api/proxies', fields);
    const inactive = { ...hourly, url: target.url, active: false };
    await source.add({ ...inactive, name: 'proxied', proxyId: proxy.id });
    const file = await source.call<UptimeExport>('GET', '/api/export');
    await copy.call('POST', '/api/proxies', { protocol: 'http', host: 'other.lan', port: 1 });
    const result = await copy.call<{ skipped: unknown[] }>('POST', '/api/import', file);
    expect(result).toMatchObject({ proxies: 1, skipped: [] });
    const { items } = await copy.call<{ items: Proxy[] }>('GET', '/api/proxies');
    expect(items[1]).toMatchObject({ host: 'proxy.lan', username: 'ada', hasPassword: false });
    const { items: list } = await copy.call<{ items: Monitor[] }>('GET', '/api/monitors');
    expect(list).toMatchObject([{ name: 'proxied', proxyId: items[1]?.id }]);
    const missing = await copy.call<{ skipped: unknown[] }>('POST', '/api/import', { ...file, proxies: [] });
    expect(missing.skipped).toMatchObject([{ what: 'option', name: 'proxied' }]);
  });

  it('are created and updated from the settings, which monitors name', async () => {
    await using server = await openHttpProxy(credentials);
    const proxy = { name: 'office', protocol: 'http', host: '127.0.0.1', port: server.port, ...credentials };
    const environment = {
      UPTIME_PROXIES: JSON.stringify([proxy, { name: 'broken', protocol: 'http', host: 'a b', port: 1 }]),
      UPTIME_MONITORS: JSON.stringify([{ ...hourly, name: 'web', url: target.url, proxy: 'office' }]),
    };
    await using declared = await openUptime({ environment });
    const { items } = await declared.call<{ items: Monitor[] }>('GET', '/api/monitors');
    expect(await declared.until(items[0]?.id ?? 0, 1)).toMatchObject({ msg: '200 - OK' });
    expect(server.targets).toEqual([`${target.url}/`]);
    const list = await declared.call<{ items: Proxy[] }>('GET', '/api/proxies');
    expect(list.items).toMatchObject([{ name: 'office', auth: true, hasPassword: true }]);
  });
});
