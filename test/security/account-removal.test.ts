import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessPassword, openAccessHost, type AccessHost } from '../support/access.ts';

let access: AccessHost;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-removal-'));
  mkdirSync(join(folder, 'from'));
  access = await openAccessHost({});
});
afterAll(async () => {
  await access[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

type Outcome = 'nobody' | 'recipient' | 'administrator';

interface OwnedData {
  readonly service: string;
  /** Port that the requests go to; default: that of Homeport's own API. */
  readonly listener?: string;
  readonly role?: 'admin';
  readonly create: { readonly method?: string; readonly path: string; readonly body: (name: string) => object };
  /** Address of the data, of which `*` is the id in the answer to its creation. */
  readonly list: string;
  /** Text that only the owner reads there. */
  readonly mark: string;
  /** Who has it after the account was removed with this choice. */
  readonly delete: Outcome;
  readonly transfer: Outcome;
  readonly keep: Outcome;
  /** Address at which an administrator finds what is kept; default: the same. */
  /** Text that an administrator reads there where it differs from `mark`. */
  readonly keptMark?: string;
  readonly kept?: (name: string) => string;
}

const personal = { delete: 'nobody', transfer: 'nobody', keep: 'nobody' } as const;
const property = { delete: 'nobody', transfer: 'recipient', keep: 'administrator' } as const;
/** Data of the whole household belongs to no account and stays. */
const shared = { delete: 'recipient', transfer: 'recipient', keep: 'administrator' } as const;

const debridAccount = { id: 'torbox', enabled: true, credentials: { apiKey: 'debrid-key-of-the-owner' } };

const table: Readonly<Record<string, OwnedData>> = {
  'repositories of Git': {
    ...property,
    service: 'git',
    listener: 'git',
    create: { path: '/api/v1/user/repos', body: () => ({ name: 'diary', private: true, auto_init: true }) },
    list: '/api/v1/user/repos',
    mark: '"diary"',
    kept: (name) => `/api/v1/repos/${name}.removed/diary`,
  },
  'webhooks of Git': {
    ...personal,
    service: 'git',
    listener: 'git',
    create: {
      path: '/api/v1/user/hooks',
      body: () => ({ type: 'gitea', active: true, config: { url: 'https://hook.example/', content_type: 'json' } }),
    },
    list: '/api/v1/user/hooks',
    mark: 'hook.example',
  },
  'saved syncs': {
    ...property,
    service: 'sync',
    create: {
      path: '/api/sync/tasks',
      body: (name) => ({
        name: 'Papers',
        source: join(folder, 'from'),
        destination: join(folder, `to-${name}`),
        cron: '0 3 * * *',
      }),
    },
    list: '/api/sync',
    mark: 'Papers',
    kept: () => '/api/sync',
  },
  'saved queries of Databases': {
    ...property,
    service: 'data',
    role: 'admin',
    create: { path: '/api/data/queries', body: () => ({ name: 'Visitors', text: 'select 1' }) },
    list: '/api/data/queries',
    mark: '"Visitors"',
    keptMark: 'Visitors (temp-keep-',
  },
  'configurations of addons': {
    ...property,
    service: 'addons',
    create: {
      path: '/api/addons/profiles',
      body: () => ({ config: { presets: [], services: [debridAccount], sortCriteria: { global: [] } } }),
    },
    list: '/api/addons/profiles/*',
    mark: debridAccount.credentials.apiKey,
  },
  'schedules of messages': {
    ...personal,
    service: 'push',
    create: {
      path: '/api/push/schedules',
      body: () => ({ topic: 'bins', message: 'Put the bins out', rule: '0 7 * * 1', zone: 'UTC' }),
    },
    list: '/api/push/schedules',
    mark: 'Put the bins out',
  },
  'subscriptions of messages': {
    ...personal,
    service: 'push',
    listener: 'push',
    create: { path: '/v1/account/subscription', body: () => ({ base_url: 'https://push.example', topic: 'diary' }) },
    list: '/v1/account',
    mark: 'push.example',
  },
  'access tokens': {
    ...personal,
    service: 'control',
    create: { path: '/api/account/tokens', body: () => ({ label: 'backup script' }) },
    list: '/api/account',
    mark: 'backup script',
  },
  monitors: {
    ...shared,
    service: 'uptime',
    create: {
      path: '/api/uptime/monitors',
      body: (name) => ({ name: `Site of ${name}`, type: 'http', url: 'https://198.51.100.1/', interval: 86400 }),
    },
    list: '/api/uptime/monitors',
    mark: 'Site of',
    kept: () => '/api/uptime/monitors',
  },
};

const grants = ['git', 'sync', 'data', 'addons', 'push', 'uptime'].map((service) => ({
  service,
  resource: '*',
  permission: 'read-write',
}));

async function send(account: string, listener: string, method: string, path: string, body?: object): Promise<string> {
  const reply = await access.call(account, listener, method, path, body);
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path} as ${account}: ${String(reply.status)} ${text}`);
  return text;
}

async function createAccount(name: string, role: 'admin' | 'user' = 'user'): Promise<void> {
  await send('admin', 'control', 'POST', '/api/accounts', { name, role, password: accessPassword, grants });
}

const removeAccount = (name: string, query: string): Promise<string> =>
  send('admin', 'control', 'DELETE', `/api/accounts/${name}?${query}`);

const cases = Object.entries(table).flatMap(([what, data]) =>
  (['delete', 'transfer', 'keep'] as const).map((action) => ({ what, data, action, outcome: data[action] })),
);

describe('data of a removed account', () => {
  it.each(cases)('has $what belong to $outcome after $action', async ({ what, data, action, outcome }) => {
    const name = `temp-${action}-${String(Object.keys(table).indexOf(what))}`;
    const heir = `heir-${name}`;
    const { listener = 'control', create, mark } = data;
    await createAccount(name, data.role);
    await createAccount(heir, data.role);
    const created = JSON.parse(await send(name, listener, create.method ?? 'POST', create.path, create.body(name)));
    const list = data.list.replace('*', String(created.uuid));
    const read = async (account: string): Promise<string> => (await access.call(account, listener, 'GET', list)).text();
    expect(await read(name)).toContain(mark);
    await removeAccount(name, action === 'transfer' ? `data=transfer&to=${heir}` : `data=${action}`);
    if (outcome === 'recipient') expect(await read(heir)).toContain(mark);
    const kept = data.kept?.(name) ?? list;
    if (outcome === 'administrator')
      expect(await send('admin', listener, 'GET', kept)).toContain(data.keptMark ?? mark);
    if (data.delete === 'recipient') return;
    if (outcome !== 'recipient') expect(await read(heir)).not.toContain(mark);
    // A later account of the same name, and of one that differs in case only.
    for (const later of [name, name.toUpperCase()]) {
      await createAccount(later, data.role);
      expect(await read(later)).not.toContain(mark);
      await removeAccount(later, 'data=delete');
    }
    if (outcome === 'recipient') expect(await read(heir)).toContain(mark);
  });

  it('ends credentials of the former account', async () => {
    await createAccount('temp-credentials');
    const token = JSON.parse(await send('temp-credentials', 'control', 'POST', '/api/account/tokens', { label: 't' }));
    const session = JSON.parse(
      await send('anonymous', 'control', 'POST', '/api/session', {
        name: 'temp-credentials',
        password: accessPassword,
      }),
    );
    await removeAccount('temp-credentials', 'data=keep');
    await createAccount('temp-credentials');
    const base = access.rig.url('control');
    for (const headers of [{ Authorization: `Bearer ${token.text}` }, { 'Homeport-Session': session.session }])
      expect((await fetch(`${base}/api/account`, { headers })).status).toBe(401);
  });

  it('names what the account has in each service before it is removed', async () => {
    await createAccount('temp-summary');
    for (const data of Object.values(table).filter(({ role, keep }) => role === undefined && keep === 'administrator'))
      await send(
        'temp-summary',
        data.listener ?? 'control',
        'POST',
        data.create.path,
        data.create.body('temp-summary'),
      );
    const { data } = JSON.parse(await send('admin', 'control', 'GET', '/api/accounts/temp-summary/data'));
    const services = data.map(({ service }: { readonly service: string }) => service);
    expect(services.sort()).toEqual(['addons', 'git', 'sync']);
  });
});
