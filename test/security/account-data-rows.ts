import { join } from 'node:path';
import { accessPassword, type AccessHost } from '../support/access.ts';

type Outcome = 'nobody' | 'recipient' | 'administrator';

export interface OwnedData {
  readonly service: string;
  /** Port that the requests go to; default: that of Homeport's own API. */
  readonly listener?: string;
  readonly role?: 'admin';
  readonly create: {
    readonly method?: string;
    readonly path: string;
    readonly body: (label: string, folder: string, name: string) => object | undefined;
  };
  /** Address of the data, of which `*` is the id in the answer to its creation and `NAME` the account that reads it. */
  readonly list: string;
  /** Text that only the owner reads there. */
  readonly mark: string;
  /** Owner after the account was removed with this choice. */
  readonly delete: Outcome;
  readonly transfer: Outcome;
  readonly keep: Outcome;
  /** Text that an administrator reads there where it differs from `mark`. */
  readonly keptMark?: string;
  /** Address at which an administrator reads the remaining data; default: the same. */
  readonly remainingPath?: (name: string) => string;
}

/** Ed25519 key of the tests; the private part exists nowhere. */
const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDnCsyGeNZzqQaeQro70kBf152qxy1Oq41OUqB74NYBl a@b';
const quietRules = { rules: [{ topics: 'night-of-the-owner', mode: 'silent' }] };

const personal = { delete: 'nobody', transfer: 'nobody', keep: 'nobody' } as const;
const property = { delete: 'nobody', transfer: 'recipient', keep: 'administrator' } as const;
/** Shared data belongs to no account and remains. */
const shared = { delete: 'recipient', transfer: 'recipient', keep: 'administrator' } as const;

const debridAccount = { id: 'torbox', enabled: true, credentials: { apiKey: 'debrid-key-of-the-owner' } };

/** Data that accounts have in the services, and its owner after each way of removing the account. */
export const ownedData: Readonly<Record<string, OwnedData>> = {
  'repositories of Git': {
    ...property,
    service: 'git',
    listener: 'git',
    create: { path: '/api/v1/user/repos', body: () => ({ name: 'diary', private: true, auto_init: true }) },
    list: '/api/v1/user/repos',
    mark: '"diary"',
    remainingPath: (name) => `/api/v1/repos/${name}.removed/diary`,
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
  'SSH keys of Git': {
    ...personal,
    service: 'git',
    listener: 'git',
    create: { path: '/api/v1/user/keys', body: () => ({ title: 'laptop key', key: publicKey }) },
    list: '/api/v1/user/keys',
    mark: 'laptop key',
  },
  'access tokens of Git': {
    ...personal,
    service: 'git',
    listener: 'git',
    create: { path: '/api/v1/users/NAME/tokens', body: () => ({ name: 'deploy script', scopes: ['read:user'] }) },
    list: '/api/v1/users/NAME/tokens',
    mark: 'deploy script',
  },
  'memberships of organizations': {
    ...personal,
    service: 'git',
    listener: 'git',
    create: { path: '/api/v1/orgs', body: (name) => ({ username: `guild-${name}` }) },
    list: '/api/v1/user/orgs',
    mark: '"guild-',
  },
  'stars of Git': {
    ...personal,
    service: 'git',
    listener: 'git',
    create: { method: 'PUT', path: '/api/v1/user/starred/ada/public', body: () => undefined },
    list: '/api/v1/user/starred',
    mark: '"public"',
  },
  'watched repositories of Git': {
    ...personal,
    service: 'git',
    listener: 'git',
    create: { method: 'PUT', path: '/api/v1/repos/ada/public/subscription', body: () => undefined },
    list: '/api/v1/user/subscriptions',
    mark: '"public"',
  },
  'issues of Git': {
    ...personal,
    service: 'git',
    listener: 'git',
    create: { path: '/api/v1/repos/ada/public/issues', body: () => ({ title: 'Broken lamp' }) },
    list: '/api/v1/repos/ada/public/issues?state=all&created_by=NAME',
    mark: 'Broken lamp',
  },
  'saved syncs': {
    ...property,
    service: 'sync',
    create: {
      path: '/api/sync/tasks',
      body: (name, folder) => ({
        name: 'Papers',
        source: join(folder, 'from'),
        destination: join(folder, `to-${name}`),
        cron: '0 3 * * *',
      }),
    },
    list: '/api/sync',
    mark: 'Papers',
    remainingPath: () => '/api/sync',
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
  'reserved topics': {
    ...property,
    service: 'push',
    listener: 'push',
    role: 'admin',
    create: { path: '/v1/account/reservation', body: (name) => ({ topic: `own-${name}`, everyone: 'deny-all' }) },
    list: '/v1/account',
    mark: '"own-',
    remainingPath: () => '/v1/users',
    keptMark: '"topic":"own-',
  },
  'quiet hours': {
    ...personal,
    service: 'push',
    create: { method: 'PUT', path: '/api/push/quiet', body: () => quietRules },
    list: '/api/push/quiet',
    mark: 'night-of-the-owner',
  },
  'sign-ins of browsers': {
    ...personal,
    service: 'control',
    create: { path: '/api/session', body: (_label, _folder, name) => ({ name, password: accessPassword }) },
    list: '/api/account/sessions',
    mark: '"id":',
  },
  'keys of notifications': {
    ...shared,
    service: 'notify',
    listener: 'notify',
    create: { path: '/add/KEY', body: () => ({ urls: 'json://192.0.2.1/', format: 'text' }) },
    list: '/json/urls/KEY',
    mark: '192.0.2.1',
  },
  downloads: {
    ...shared,
    service: 'downloads',
    listener: 'downloads',
    create: { path: '/add', body: () => ({ url: 'http://192.0.2.9/film', quality: 'best', auto_start: false }) },
    list: '/history',
    mark: '192.0.2.9/film',
  },
  'messages in the inbox': {
    ...shared,
    service: 'inbox',
    listener: 'push',
    create: { path: '/household', body: () => ({ topic: 'household', message: 'Milk is out' }) },
    list: '/household/json?poll=1&since=all',
    mark: 'Milk is out',
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
    remainingPath: () => '/api/uptime/monitors',
  },
};

/** Grants of the accounts in these tests. */
export const accountGrants = ['git', 'sync', 'data', 'addons', 'push', 'uptime', 'notify', 'downloads', 'inbox'].map(
  (service) => ({ service, resource: '*', permission: 'read-write' as const }),
);

/** Sends a request as an account and returns the body of the answer. @throws Error for any refusal. */
export async function send(
  access: AccessHost,
  [account, listener]: readonly [account: string, listener: string],
  [method, path]: readonly [method: string, path: string],
  body?: object,
): Promise<string> {
  const reply = await access.call(account, listener, method, path, body);
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path} as ${account}: ${String(reply.status)} ${text}`);
  return text;
}

/**
 * Creates the data of a row as its owner and returns the address at which it is listed.
 * @param label text for names in the data; default: the name of the account
 */
export async function createOwnedData(
  access: AccessHost,
  data: OwnedData,
  { name, folder, label = name }: { readonly name: string; readonly folder: string; readonly label?: string },
): Promise<string> {
  const { listener = 'control', create, list } = data;
  const path = create.path.replace('KEY', label).replace('NAME', name);
  const text = await send(access, [name, listener], [create.method ?? 'POST', path], create.body(label, folder, name));
  const id = list.includes('*') ? String(JSON.parse(text).uuid) : '';
  return list.replace('*', id).replace('KEY', label);
}
