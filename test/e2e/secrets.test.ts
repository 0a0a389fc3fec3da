import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { controlApi } from '../../services/contracts/control/api.ts';
import { oneTimeLinkApi } from '../../services/contracts/control/one-time-link-routes.ts';
import { secondFactorApi } from '../../services/contracts/control/second-factor-routes.ts';
import { pushQuietApi } from '../../services/contracts/push/quiet.ts';
import type { RouteAccess } from '../../services/contracts/route-access.ts';
import { api } from '../support/api.ts';
import { admin, adminAuthorization } from '../support/host.ts';
import { startHostProcess, type HostProcess } from '../support/host-process.ts';

const password = 'hopper-hopper-7';
const destinationPassword = 'geheim-geheim-9';
const databasePassword = 'pg-geheim-3';
const loginPassword = 'nas-geheim-5';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly description?: string }>>>>;
}

let dataDir: string;
let host: HostProcess;
let base: string;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'homeport-secrets-'));
  host = await startHostProcess(dataDir, { environment: { LOG_LEVEL: 'debug' } });
  base = host.url('control');
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true });
});

const basic = (name: string, word: string): string => `Basic ${Buffer.from(`${name}:${word}`).toString('base64')}`;
const post = (body: unknown): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });

async function makeAccount(name: string, overrides: object = {}): Promise<string> {
  await api(base, '/api/accounts', post({ name, password, ...overrides }));
  const { text } = await api<{ text: string }>(base, `/api/accounts/${name}/tokens`, post({ label: 'test' }));
  return text;
}

/** The status a request gets with this Authorization header, or none. */
async function status(
  path: string,
  method: string,
  authorization: string | undefined,
  overrides = {},
): Promise<number> {
  const reply = await fetch(base + path, {
    method,
    headers: {
      'Content-Type': 'application/json',
      ...(authorization === undefined ? {} : { Authorization: authorization }),
      ...overrides,
    },
    ...(method === 'GET' ? {} : { body: '{}' }),
  });
  await reply.body?.cancel();
  return reply.status;
}

/** The text of every file below a folder, databases included. */
function contents(folder: string): Map<string, string> {
  const secrets = new Map<string, string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) secrets.set(path, readFileSync(path, 'latin1'));
  }
  return secrets;
}

describe('every route of the app API', () => {
  it('rejects anonymous callers, revoked tokens and disabled accounts, and reserves administration to administrators', async () => {
    const user = await makeAccount('user');
    const service = await makeAccount('robot', { kind: 'service' });
    const off = await makeAccount('off');
    await api(base, '/api/accounts/off', { method: 'PATCH', body: JSON.stringify({ enabled: false }) });
    const removedToken = await api<{ token: { id: string }; text: string }>(
      base,
      '/api/accounts/user/tokens',
      post({ label: 'gone' }),
    );
    await api(base, `/api/accounts/user/tokens/${removedToken.token.id}`, { method: 'DELETE' });

    const { paths } = await api<Document>(base, '/api/openapi.json');
    const access = (method: string, path: string): RouteAccess | undefined =>
      [
        ...Object.values(controlApi),
        ...Object.values(secondFactorApi),
        ...Object.values(oneTimeLinkApi),
        ...Object.values(pushQuietApi),
      ].find((route) => route.method === method && route.path === path)?.access;
    const [refused, slowedDown] = [401, 429];
    let checkedCount = 0;
    for (const [path, methods] of Object.entries(paths)) {
      for (const name of Object.keys(methods)) {
        const method = name.toUpperCase();
        const declared = path.replace(/\{(\w+)\}/g, ':$1');
        if (access(method, declared) === 'public') continue;
        const url = path.replace(/\{\w+\}/g, 'nothing');
        checkedCount += 1;
        const label = `${method} ${path}`;
        expect(`${label} ${await status(url, method, undefined)}`).toBe(`${label} 401`);
        expect([refused, slowedDown], label).toContain(await status(url, method, `Bearer ${removedToken.text}`));
        expect([refused, slowedDown], label).toContain(await status(url, method, `Bearer ${off}`));
        expect(`${label} ${await status(url, method, `Bearer ${service}`)}`).toBe(`${label} 403`);
        if (access(method, declared) === 'admin') {
          expect(`${label} ${await status(url, method, `Bearer ${user}`)}`).toBe(`${label} 403`);
        }
      }
    }
    expect(checkedCount).toBeGreaterThan(20);
    expect(await status('/api/services', 'GET', basic('off', password))).toBe(401);
    expect(await status('/metrics', 'GET', undefined)).toBe(401);
    expect(await status('/api/events', 'GET', undefined)).toBe(401);
  });

  it('accepts a session secret in its header and not in a cookie', async () => {
    const reply = await fetch(`${base}/api/session`, {
      ...post({ name: admin.name, password: admin.password }),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(reply.headers.getSetCookie()).toEqual([]);
    const { session } = (await reply.json()) as { session: string };
    const header = { 'Homeport-Session': session };
    expect(await status('/api/services', 'GET', undefined, header)).toBe(200);
    expect(await status('/api/settings/inbox', 'PATCH', undefined, header)).toBe(200);
    expect(await status('/api/settings/inbox', 'PATCH', undefined, { ...header, Origin: 'https://evil.example' })).toBe(
      403,
    );
    for (const name of ['homeport_session', 'homeport-session', '__Host-homeport_session']) {
      const Cookie = `${name}=${session}`;
      for (const path of ['/api/services', '/api/events', '/metrics', '/api/account']) {
        expect(await status(path, 'GET', undefined, { Cookie, Origin: base })).toBe(401);
      }
      expect(await status('/api/settings/inbox', 'PATCH', undefined, { Cookie, Origin: base })).toBe(401);
    }
  });
});

describe('a secret', () => {
  it('does not appear in logs, metrics, pages or plain files after it was entered, shown once or rejected', async () => {
    const token = await makeAccount('grace', {
      grants: [{ service: 'push', resource: '*', permission: 'read-write' }],
    });
    await fetch(`${host.url('notify')}/add/away`, {
      method: 'POST',
      body: new URLSearchParams({ urls: `json://me:${destinationPassword}@127.0.0.1:9/path` }),
    });
    await fetch(`${host.url('notify')}/notify/away`, {
      method: 'POST',
      body: new URLSearchParams({ title: 'a', body: 'b' }),
    });
    await api(base, '/api/settings/host', {
      method: 'PATCH',
      body: JSON.stringify({ databaseUrl: `postgres://me:${databasePassword}@127.0.0.1:1/x` }),
    });
    await api(base, '/api/settings/mail', {
      method: 'PATCH',
      body: JSON.stringify({
        recipients: [
          { address: 'ships', to: 'inbox://', destinations: `json://me:${destinationPassword}@127.0.0.1:9/x` },
        ],
        logins: [{ name: 'nas', password: loginPassword }],
      }),
    });
    const misnamed = await fetch(`${base}/api/settings/mail`, {
      method: 'PATCH',
      headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ logins: [{ user: 'nas', password: loginPassword }] }),
    });
    expect([misnamed.status, await misnamed.text()]).toEqual([
      422,
      expect.stringContaining('services.mail.logins.0.user'),
    ]);
    await fetch(`${host.url('push')}/ships?auth=${Buffer.from(`Bearer ${token}`).toString('base64url')}`, {
      method: 'POST',
    });
    await fetch(`${host.url('push')}/ships`, {
      method: 'POST',
      body: 'x',
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(await status('/api/services', 'GET', basic('grace', 'almost-hopper-8'))).toBe(401);
    await vi.waitFor(async () => expect(JSON.stringify(await api(base, '/api/log?limit=500'))).toContain('/ships'));

    const sources = contents(dataDir);
    // The settings file contains sealed secrets, and only its owner can read it.
    const yaml = join(dataDir, 'homeport.yaml');
    expect(sources.get(yaml)?.match(/sealed: v1\./g)).toHaveLength(3);
    expect(statSync(yaml).mode & 0o077).toBe(0);
    sources.set('stdout', host.output.join('\n'));
    sources.set('stderr', host.errors.join('\n'));
    for (const path of [
      '/metrics',
      '/api/log?limit=1000',
      '/api/settings',
      '/api/services',
      '/api/jobs/dead',
      '/api/accounts',
    ]) {
      const reply = await fetch(base + path, { headers: { Authorization: adminAuthorization } });
      expect(reply.status).toBe(200);
      sources.set(path, await reply.text());
    }
    const secrets = [
      admin.password,
      password,
      token,
      destinationPassword,
      databasePassword,
      loginPassword,
      'almost-hopper-8',
      adminAuthorization.slice('Basic '.length),
      Buffer.from(`Bearer ${token}`).toString('base64url'),
    ];
    const leaks = [...sources].flatMap(([sourceName, text]) =>
      secrets.filter((secret) => text.includes(secret)).map((secret) => `${secret} in ${sourceName}`),
    );
    expect(leaks).toEqual([]);
  });
});

describe('guessing a secret', () => {
  it('throttles attempts at set-up codes and passwords, and rejects used codes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-setup-'));
    try {
      await using newHost = await startHostProcess(folder, { administrator: false });
      const link = newHost.output.find((line) => line.startsWith('First start:'))?.match(/http\S+/)?.[0] ?? '';
      const code = new URL(link).searchParams.get('code') ?? '';
      const attempt = async (path: string, body: object): Promise<number> => {
        const reply = await fetch(newHost.url('control') + path, {
          ...post(body),
          headers: { 'Content-Type': 'application/json' },
        });
        await reply.body?.cancel();
        return reply.status;
      };
      const guesses: number[] = [];
      for (let guess = 0; guess < 15; guess += 1) {
        guesses.push(await attempt('/api/setup', { code: `guess${guess}`, name: 'eve', password }));
      }
      expect(guesses.slice(0, 10)).toEqual(Array(10).fill(403));
      expect(guesses.at(-1)).toBe(429);
      expect(await attempt('/api/setup', { code, name: 'ada', password })).toBe(200);
      expect(await attempt('/api/setup', { code, name: 'eve', password })).toBe(409);
      const signIns: number[] = [];
      for (let guess = 0; guess < 7; guess += 1) {
        signIns.push(await attempt('/api/session', { name: 'ada', password: `wrong-${guess}` }));
      }
      expect(signIns).toEqual([401, 401, 401, 401, 401, 429, 429]);
      for (const text of [...contents(folder).values(), ...newHost.errors]) expect(text).not.toContain(code);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
