import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { io, type Socket } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Grant, Permission } from '../../services/contracts/control/accounts.ts';
import { openAccessHost, type AccessHost } from '../support/access.ts';

/**
 * Tests the access of tokens with scopes on the listeners of the services. The app API is tested in app-api.test.ts.
 * All tokens belong to an administrator unless a title states otherwise.
 */
const services = ['git', 'sync', 'downloads', 'push', 'notify', 'uptime'] as const;
type Service = (typeof services)[number];

/** Scope that a request requires: `any` accepts `write` in services where write access includes read access. */
type Need = 'read' | 'write' | 'any' | 'administrator';

interface Request {
  readonly service: Service;
  readonly need: Need;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

const topic = 'limited';
const key = 'household';
const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDnCsyGeNZzqQaeQro70kBf152qxy1Oq41OUqB74NYBl a@b';
const repository = '/api/v1/repos/ada/hidden';
const batch = (operation: string): object => ({ operation, objects: [{ oid: '0'.repeat(64), size: 1 }] });

function rows(service: Service, list: readonly (readonly [Need, string, Request['path'], unknown?])[]): Request[] {
  return list.map(([need, method, path, body]) => ({ service, need, method, path, body }));
}

const requests: readonly Request[] = [
  ...rows('git', [
    ['any', 'GET', repository],
    ['any', 'GET', `${repository}/issues`],
    ['any', 'GET', `${repository}/contents/README.md`],
    ['any', 'GET', '/ada/hidden/raw/branch/main/README.md'],
    ['any', 'GET', '/ada/hidden.git/info/refs?service=git-upload-pack'],
    ['any', 'POST', '/ada/hidden.git/info/lfs/objects/batch', batch('download')],
    ['write', 'GET', '/ada/hidden.git/info/refs?service=git-receive-pack'],
    ['write', 'POST', '/ada/hidden.git/info/lfs/objects/batch', batch('upload')],
    ['write', 'POST', `${repository}/issues`, { title: 'An issue' }],
    ['write', 'POST', `${repository}/issues/1/comments`, { body: 'A comment' }],
    ['write', 'POST', `${repository}/contents/new.txt`, { content: 'YQ==', message: 'Add', branch: 'main' }],
    ['administrator', 'PATCH', repository, { private: false }],
    ['administrator', 'DELETE', repository],
    ['administrator', 'POST', `${repository}/hooks`, { type: 'gitea', config: { url: 'https://hooks.example/' } }],
    ['administrator', 'POST', `${repository}/keys`, { title: 'key', key: publicKey }],
    ['administrator', 'POST', '/api/v1/user/repos', { name: 'mine' }],
    ['administrator', 'POST', '/api/v1/user/keys', { title: 'key', key: publicKey }],
    ['administrator', 'POST', '/api/v1/users/ada/tokens', { name: 'more', scopes: ['all'] }],
    [
      'administrator',
      'POST',
      '/api/v1/admin/users',
      { username: 'eve', email: 'e@x.example', password: 'x'.repeat(12) },
    ],
  ]),
  ...rows('sync', [
    ['read', 'POST', '/operations/list', '{"fs":FOLDER,"remote":""}'],
    ['write', 'POST', '/operations/mkdir', '{"fs":FOLDER,"remote":"made"}'],
    ['write', 'POST', '/operations/purge', '{"fs":FOLDER,"remote":"made"}'],
    ['administrator', 'POST', '/config/dump', {}],
    ['administrator', 'POST', '/config/create', { name: 'x', type: 'local', parameters: {} }],
    ['administrator', 'POST', '/core/bwlimit', { rate: '1k' }],
  ]),
  ...rows('downloads', [
    ['read', 'GET', '/history'],
    ['read', 'GET', '/subscriptions'],
    ['read', 'GET', '/cookie-status'],
    ['write', 'POST', '/add', { url: 'http://192.0.2.1/x', quality: 'best', auto_start: false }],
    ['write', 'POST', '/start', { ids: ['x'] }],
    ['write', 'POST', '/delete', { ids: ['x'], where: 'done' }],
    ['write', 'POST', '/subscribe', { url: 'http://192.0.2.1/x' }],
    ['write', 'POST', '/delete-cookies', {}],
  ]),
  ...rows('push', [
    ['read', 'GET', `/${topic}/json?poll=1`],
    ['read', 'GET', `/${topic}/auth`],
    ['write', 'POST', `/${topic}`, 'hello'],
    ['write', 'PUT', `/${topic}`, 'hello'],
    ['write', 'POST', '/', { topic, message: 'hello' }],
    ['write', 'GET', `/${topic}/publish?message=hello`],
    ['write', 'GET', `/${topic}/trigger`],
    ['administrator', 'POST', '/v1/account/token', {}],
    ['administrator', 'POST', '/v1/account/password', { password: 'x', new_password: 'velvet-otter-93-lantern' }],
    ['administrator', 'PATCH', '/v1/account/settings', { language: 'de' }],
    ['administrator', 'POST', '/v1/account/subscription', { base_url: 'https://x.example', topic }],
    ['administrator', 'POST', '/v1/account/reservation', { topic, everyone: 'deny-all' }],
    ['administrator', 'GET', '/v1/users'],
    ['administrator', 'PUT', '/v1/users', { username: 'eve', password: 'velvet-otter-93-lantern' }],
    ['administrator', 'PUT', '/v1/users/access', { username: 'ada', topic: '*', permission: 'rw' }],
  ]),
  ...rows('notify', [
    ['read', 'GET', `/json/urls/${key}`],
    ['write', 'POST', `/notify/${key}`, { body: 'x' }],
    ['write', 'POST', '/notify', { body: 'x', urls: 'json://192.0.2.1' }],
    ['administrator', 'POST', `/add/${key}`, { urls: 'json://192.0.2.1' }],
    ['administrator', 'POST', `/get/${key}`],
    ['administrator', 'POST', `/del/${key}x`],
  ]),
  ...rows('uptime', [
    ['read', 'GET', '/api/monitors'],
    ['read', 'GET', '/api/overview'],
    ['read', 'GET', '/metrics'],
    ['write', 'POST', '/api/monitors', { type: 'manual', name: 'made', interval: 3600 }],
    ['write', 'POST', '/api/tags', { name: 'x', color: '#000000' }],
    ['write', 'POST', '/api/api-keys', { name: 'x', expires: null, active: true }],
    ['write', 'GET', '/api/export'],
  ]),
];

let host: AccessHost;
let folder = '';
const tokens = new Map<string, string>();

async function send(path: string, body: unknown): Promise<any> {
  const reply = await host.call('admin', 'control', 'POST', path, body);
  expect([path, reply.ok]).toEqual([path, true]);
  return reply.json();
}

async function createToken(label: string, scopes: readonly Grant[], account = 'ada'): Promise<void> {
  const { text } = await send(`/api/accounts/${account}/tokens`, { label, scopes });
  tokens.set(label, text as string);
}

const createScopes = (list: readonly string[], permission: Permission): Grant[] =>
  list.map((service) => ({ service, resource: '*', permission }));

beforeAll(async () => {
  host = await openAccessHost({ limitedReader: createScopes(services, 'read') });
  // Outside of the data folder, which Sync never reaches.
  folder = mkdtempSync(join(tmpdir(), 'limited-tokens-'));
  mkdirSync(join(folder, 'in'), { recursive: true });
  writeFileSync(join(folder, 'in', 'a.txt'), 'text');
  for (const service of services) {
    for (const permission of ['read', 'write', 'read-write'] as const)
      await createToken(`${service} ${permission}`, createScopes([service], permission));
    const others = [...services.filter((entry) => entry !== service), 'inbox', 'mail', 'metrics', 'addons', 'data'];
    await createToken(`all but ${service}`, createScopes(others, 'read-write'));
  }
  await createToken('of a reader', createScopes(services, 'read-write'), 'limitedReader');
  await createToken('everything', createScopes([...services, 'addons', 'data'], 'read-write'));
  const create = { name: 'hidden', private: true, auto_init: true, default_branch: 'main' };
  expect((await host.call('admin', 'git', 'POST', '/api/v1/user/repos', create)).status).toBe(201);
  const issue = await host.call('admin', 'git', 'POST', `${repository}/issues`, { title: 'The first' });
  expect(issue.status).toBe(201);
  const added = await host.call('admin', 'notify', 'POST', `/add/${key}`, { urls: 'json://192.0.2.1/x' });
  expect(added.status).toBe(200);
  for (const section of ['notify', 'downloads']) {
    const trust = { trustLocalPrograms: false };
    expect((await host.call('admin', 'control', 'PATCH', `/api/settings/${section}`, trust)).status).toBe(200);
  }
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function fetchStatus({ service, method, path, body }: Request, token: string): Promise<number> {
  const text = typeof body === 'string' ? body.replace('FOLDER', JSON.stringify(`${folder}/in`)) : JSON.stringify(body);
  const isText = body === undefined || service === 'push';
  const type = path.includes('/lfs/') ? 'application/vnd.git-lfs+json' : 'application/json';
  // Sends the token as git does, and as other programs do.
  const basic = `Basic ${Buffer.from(`ada:${token}`).toString('base64')}`;
  const reply = await fetch(host.rig.url(service) + path, {
    method,
    redirect: 'manual',
    headers: {
      Authorization: service === 'git' && path.includes('.git/') ? basic : `Bearer ${token}`,
      ...(isText ? {} : { 'Content-Type': type, Accept: type }),
    },
    ...(body === undefined ? {} : { body: text ?? '' }),
  });
  await reply.arrayBuffer();
  return reply.status;
}

const isRefused = (status: number): boolean => [401, 403, 404].includes(status);
const isAllowed = (need: Need, permission: Permission): boolean =>
  need === 'any' || (need !== 'administrator' && (permission === need || permission === 'read-write'));

describe('a token with scopes', () => {
  it.each(requests.map((request) => [`${request.service} ${request.method} ${request.path}`, request] as const))(
    'reaches only granted objects: %s',
    async (_title, request) => {
      const { need, service } = request;
      const expected: (readonly [string, boolean])[] = [
        [`all but ${service}`, false],
        [`${service} read`, isAllowed(need, 'read')],
        // A scope never exceeds the permissions of the account.
        ['of a reader', isAllowed(need, 'read')],
        [`${service} write`, isAllowed(need, 'write')],
        [`${service} read-write`, isAllowed(need, 'read-write')],
      ];
      for (const [label, allowed] of expected) {
        if (label === 'of a reader' && service === 'git') continue;
        const status = await fetchStatus(request, tokens.get(label) ?? '');
        expect.soft([label, !isRefused(status), status]).toEqual([label, allowed, status]);
        // rclone answers its own failures with status 500.
        if (service !== 'sync') expect.soft([label, status < 500, status]).toEqual([label, true, status]);
      }
    },
  );

  it('has no access to services without accounts', async () => {
    const headers = { Authorization: `Bearer ${tokens.get('everything') ?? ''}` };
    for (const [service, path] of [
      ['data', '/rest/v1/x'],
      ['data', '/auth/v1/admin/users'],
      ['data', '/pg/query'],
      ['addons', '/api/v1/user'],
      ['addons', '/export?includeCredentials=true'],
    ] as const) {
      const reply = await fetch(host.rig.url(service) + path, { headers });
      expect.soft([path, reply.status]).toEqual([path, expect.toBeOneOf([400, 401, 403, 404])]);
    }
  });
});

describe('a socket with a token with scopes', () => {
  interface Client extends Disposable {
    readonly socket: Socket;
    ask(event: string, ...values: unknown[]): Promise<{ readonly ok?: boolean }>;
  }

  function connect(service: Service, token: string): Client {
    const options = { transports: ['websocket'], forceNew: true, reconnection: false };
    const socket = io(host.rig.url(service), { ...options, extraHeaders: { Authorization: `Bearer ${token}` } });
    return {
      socket,
      ask: (event, ...values) => socket.timeout(30_000).emitWithAck(event, ...values) as Promise<{ ok?: boolean }>,
      [Symbol.dispose]: () => void socket.disconnect(),
    };
  }

  it.each([
    ['uptime read', true, false],
    ['uptime read-write', true, true],
    ['all but uptime', false, false],
    ['of a reader', true, false],
  ])('reads and changes monitors as it may: %s', async (label, reads, writes) => {
    const token = tokens.get(label) ?? '';
    using client = connect('uptime', token);
    expect([label, (await client.ask('loginByToken', token)).ok]).toEqual([label, reads]);
    expect([label, (await client.ask('getMonitorList')).ok === true]).toEqual([label, reads]);
    const monitor = { type: 'manual', name: 'by socket', interval: 3600, accepted_statuscodes: ['200-299'] };
    expect([label, (await client.ask('add', monitor)).ok === true]).toEqual([label, writes]);
    expect([label, (await client.ask('addTag', { name: 'x', color: '#000' })).ok === true]).toEqual([label, writes]);
  });

  it.each([
    ['downloads read', true],
    ['all but downloads', false],
  ])('listens to downloads as it may: %s', async (label, allowed) => {
    using client = connect('downloads', tokens.get(label) ?? '');
    const received = await new Promise<boolean>((resolve) => {
      client.socket.once('all', () => resolve(true));
      client.socket.once('connect_error', () => resolve(false));
      client.socket.once('disconnect', () => resolve(false));
    });
    expect([label, received]).toEqual([label, allowed]);
  });
});
