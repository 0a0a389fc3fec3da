import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StatusPage } from '../../services/contracts/uptime/status-pages.ts';
import { accessPassword } from '../support/access.ts';
import { adminAuthorization } from '../support/host.ts';
import { openUptime, type UptimeRig } from '../services/uptime/rig.ts';

const password = 'blue harbor lamp';
const secretName = 'internal monitor';
let rig: UptimeRig;
let monitorId = 0;
let tokens: { readonly reader: string; readonly other: string };
beforeAll(async () => {
  rig = await openUptime({ environment: { UPTIME_SUBSCRIBER_MAIL: 'mailto://127.0.0.1:1/?from=a@example.org' } });
  ({ id: monitorId } = await rig.add({ type: 'manual', name: secretName, manual_status: 1, interval: 3600 }));
  const publicGroupList = [{ name: 'All', monitorList: [{ id: monitorId }] }];
  for (const [slug, change] of Object.entries({
    open: {},
    people: { access: 'accounts' },
    locked: { access: 'password', password, subscribable: true, domainNameList: ['status.home.test'] },
  })) {
    await rig.call('POST', '/api/status-pages', { slug, title: `Page ${slug}` });
    const monitors = slug === 'open' ? [] : publicGroupList;
    await rig.call('PUT', `/api/status-pages/${slug}`, { publicGroupList: monitors, ...change });
    await rig.call('POST', `/api/status-pages/${slug}/incidents`, { title: 'Secret note', content: 'Secret note' });
  }
  await administer('/api/accounts', { name: 'person', password: accessPassword, grants: [] });
  tokens = {
    reader: await createServiceAccount('reader', [{ service: 'uptime', resource: '*', permission: 'read' }]),
    other: await createServiceAccount('other', []),
  };
});
afterAll(() => rig[Symbol.asyncDispose]());

async function administer(path: string, body: object): Promise<{ readonly text?: string }> {
  const reply = await fetch(rig.host.url('control') + path, {
    method: 'POST',
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(reply.ok).toBe(true);
  return (await reply.json()) as { readonly text?: string };
}

/** Creates a service account and returns its token. */
async function createServiceAccount(name: string, grants: readonly object[]): Promise<string> {
  await administer('/api/accounts', { name, kind: 'service', grants });
  return (await administer(`/api/accounts/${name}/tokens`, { label: name })).text ?? '';
}

const basic = (name: string, secret: string): string => `Basic ${btoa(`${name}:${secret}`)}`;

/** Sends a request without the credentials of the rig. */
function visit(path: string, headers: Record<string, string> = {}, init: RequestInit = {}): Promise<Response> {
  return fetch(rig.url + path, { redirect: 'manual', ...init, headers });
}

function submit(slug: string, entered: string): Promise<Response> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams({ password: entered }).toString();
  return visit(`/status/${slug}/open`, headers, { method: 'POST', body });
}

async function openWithPassword(): Promise<string> {
  const reply = await submit('locked', password);
  expect([reply.status, reply.headers.get('location')]).toEqual([303, '/status/locked']);
  return (reply.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

/** Public addresses of a page; each reveals its content. */
const addresses = (slug: string): readonly string[] => [
  `/status/${slug}`,
  `/status/${slug}/rss`,
  `/status/${slug}/history`,
  `/api/status-page/${slug}`,
  `/api/status-page/heartbeat/${slug}`,
  `/api/status-page/${slug}/manifest.json`,
  `/api/status-page/${slug}/incident-history`,
];

describe('restricted status page', () => {
  it.each(['people', 'locked'])('reveals nothing of %s to visitors, at any of its addresses', async (slug) => {
    for (const path of addresses(slug)) {
      const reply = await visit(path);
      const text = await reply.text();
      expect([path, reply.status]).toEqual([
        path,
        ['/status/locked', '/status/locked/history'].includes(path) ? 403 : 401,
      ]);
      expect(text).not.toMatch(/Secret note|internal monitor|Page (?:people|locked)/);
      expect(reply.headers.get('cache-control')).toBe('no-store');
      expect(reply.headers.get('set-cookie')).toBeNull();
    }
  });

  it.each(['people', 'locked'])('shows %s to those who may see it, and lets no cache store it', async (slug) => {
    const authorization = slug === 'people' ? basic('person', accessPassword) : basic('any', password);
    for (const path of addresses(slug)) {
      const reply = await visit(path, { authorization });
      expect([path, reply.status]).toEqual([path, 200]);
      expect(reply.headers.get('cache-control')).toBe('no-store');
      expect(reply.headers.get('vary')).toMatch(/Authorization, Cookie/);
    }
    expect(await (await visit(`/status/${slug}`, { authorization })).text()).toContain(secretName);
  });

  it('is reported as missing when it is not published, without asking for a password', async () => {
    await rig.call('PUT', '/api/status-pages/locked', { published: false });
    expect((await visit('/status/locked')).status).toBe(404);
    expect((await submit('locked', password)).status).toBe(404);
    await rig.call('PUT', '/api/status-pages/locked', { published: true });
  });

  it('shows badges of its monitors only to those who may see a page that lists them', async () => {
    const read = async (path: string, headers?: Record<string, string>): Promise<string> => {
      const reply = await visit(path, headers);
      expect(reply.status).toBe(200);
      return reply.text();
    };
    const badges = [`/api/badge/${String(monitorId)}/status`, '/api/status-page/locked/badge'];
    for (const path of badges) {
      expect(await read(path)).toContain('N/A');
      expect(await read(path, { authorization: basic('', 'wrong password') })).toContain('N/A');
      expect(await read(path, { authorization: basic('', password) })).toContain('Up');
    }
  });

  it('does not count the password of a page as a wrong one of another page at each badge', async () => {
    const authorization = basic('', password);
    const read = async (): Promise<string> =>
      (await visit(`/api/badge/${String(monitorId)}/status`, { authorization })).text();
    expect(await read()).toContain('Up');
    const countFailures = (): number => rig.host.log.filter((line) => line.includes('sign_in_failed')).length;
    const failures = countFailures();
    for (let index = 0; index < 5; index += 1) expect(await read()).toContain('Up');
    expect(countFailures()).toBe(failures);
  });

  it('accepts no mail subscription without the password', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const init = { method: 'POST', body: 'email=jo%40example.org' };
    expect((await visit('/status/locked/subscribe', headers, init)).status).toBe(401);
    const list = await rig.call<{ items: unknown[] }>('GET', '/api/status-pages/locked/subscribers');
    expect(list.items).toEqual([]);
    const cookie = await openWithPassword();
    expect((await visit('/status/locked/subscribe', { ...headers, cookie }, init)).status).toBe(200);
  });
});

describe('status page for accounts', () => {
  it('admits people and accounts that may read Uptime, but no other service account', async () => {
    const open = async (authorization: string): Promise<number> =>
      (await visit('/status/people', { authorization })).status;
    expect(await open(basic('person', accessPassword))).toBe(200);
    expect(await open(`Bearer ${tokens.reader}`)).toBe(200);
    expect(await open(`Bearer ${tokens.other}`)).toBe(403);
    const refused = await visit('/status/people', { authorization: basic('person', 'wrong password') });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toMatch(/^Basic /);
  });
});

describe('password of a status page', () => {
  it('sets a cookie that opens only this page', async () => {
    const reply = await submit('locked', password);
    const setCookie = reply.headers.get('set-cookie') ?? '';
    expect(setCookie).toMatch(/^homeport-status-\d+=[^;]+; Path=\/status\/locked; HttpOnly; SameSite=Lax; Max-Age=/);
    const [cookie = ''] = setCookie.split(';');
    expect((await visit('/status/locked', { cookie })).status).toBe(200);
    expect((await visit('/status/locked/rss', { cookie })).status).toBe(200);
    await rig.call('POST', '/api/status-pages', { slug: 'second', title: 'Second' });
    await rig.call('PUT', '/api/status-pages/second', { access: 'password', password });
    const { id } = await rig.call<StatusPage>('GET', '/api/status-pages/second');
    const renamed = cookie.replace(/^homeport-status-\d+/, `homeport-status-${String(id)}`);
    expect((await visit('/status/second', { cookie: renamed })).status).toBe(403);
    const longer = cookie.replace(/=(\d+)\./, (_, at: string) => `=${String(Number(at) + 1000)}.`);
    expect((await visit('/status/locked', { cookie: longer })).status).toBe(403);
  });

  it('is rejected when it is wrong, without a cookie', async () => {
    const reply = await submit('locked', 'wrong password');
    expect([reply.status, reply.headers.get('set-cookie')]).toEqual([403, null]);
    expect(await reply.text()).toContain('role="alert"');
  });

  it('ends all cookies when it changes, and not when it is saved again', async () => {
    const cookie = await openWithPassword();
    await rig.call('PUT', '/api/status-pages/locked', { password });
    expect((await visit('/status/locked', { cookie })).status).toBe(200);
    await rig.call('PUT', '/api/status-pages/locked', { password: 'another password' });
    expect((await visit('/status/locked', { cookie })).status).toBe(403);
    expect((await submit('locked', password)).status).toBe(403);
    await rig.call('PUT', '/api/status-pages/locked', { password });
  });

  it('is not returned, exported or logged, and stored as a scrypt hash', async () => {
    const bodies = [
      await (await rig.raw('GET', '/api/status-pages')).text(),
      await (await rig.raw('GET', '/api/export')).text(),
      rig.host.log.join(),
    ].join();
    expect(bodies).not.toMatch(/blue harbor|\$scrypt/);
    expect(bodies).toContain('"hasPassword":true');
  });

  it('is required before a page can ask for it', async () => {
    await rig.call('POST', '/api/status-pages', { slug: 'bare', title: 'Bare' });
    const reply = await rig.raw('PUT', '/api/status-pages/bare', { access: 'password' });
    expect(reply.status).toBe(400);
    expect((await rig.raw('PUT', '/api/status-pages/bare', { access: 'password', password: 'short' })).status).toBe(
      400,
    );
    expect((await visit('/status/bare')).status).toBe(200);
  });

  it('does not become public through an export', async () => {
    await using copy = await openUptime();
    const result = await copy.call<{ skipped: { name: string }[] }>(
      'POST',
      '/api/import',
      await rig.call('GET', '/api/export'),
    );
    expect(result.skipped.map(({ name }) => name)).toContain('Page locked');
    expect(await copy.call('GET', '/api/status-pages/locked')).toMatchObject({
      access: 'accounts',
      hasPassword: false,
    });
    expect((await fetch(`${copy.url}/status/locked`)).status).toBe(401);
  });

  it('is throttled like other sign-ins', async () => {
    await using throttled = await openUptime();
    await throttled.call('POST', '/api/status-pages', { slug: 'main', title: 'Main' });
    await throttled.call('PUT', '/api/status-pages/main', { access: 'password', password });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 30 && statuses.at(-1) !== 429; attempt += 1) {
      const authorization = basic('', `guess number ${String(attempt)}`);
      statuses.push((await fetch(`${throttled.url}/status/main/rss`, { headers: { authorization } })).status);
    }
    expect(statuses[0]).toBe(401);
    expect(statuses.at(-1)).toBe(429);
  });
});
