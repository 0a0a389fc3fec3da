import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServiceState } from '../../services/contracts/control/api.ts';
import { control } from '../../services/control/index.ts';
import { data } from '../../services/data/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { git } from '../../services/git/index.ts';
import { push } from '../../services/push/index.ts';
import { sync } from '../../services/sync/index.ts';
import type { ServiceDescriptor } from '../../services/contracts/service.ts';
import { api } from '../support/api.ts';
import { sharing } from '../support/gateway/phone.ts';
import { openTestHost, type TestHost } from '../support/host.ts';
import { lacksRclone, rclonePath } from '../services/sync/sync-fixture.ts';

interface StoredKey {
  readonly service: ServiceDescriptor<any, any>;
  /** Path that the remedy names. */
  readonly name: string;
  readonly row?: { readonly table: string; readonly column: string; readonly value: string; readonly sealed: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly skip?: boolean;
}

const named = { table: 'secrets', column: 'name', sealed: 'sealed' } as const;
const leafRow = { table: 'certificates', column: 'kind', value: 'leaf', sealed: 'key' } as const;
const keys: Readonly<Record<string, StoredKey>> = {
  'the key of the local certificate authority': {
    service: gateway,
    name: 'authority',
    row: { ...leafRow, value: 'authority' },
    environment: sharing({ GATEWAY_SHARED: 'push' }),
  },
  'the password of the configuration of rclone': {
    service: sync,
    name: 'remotes',
    row: { table: 'keepsakes', column: 'name', value: 'sync.engine-configuration', sealed: 'value' },
    environment: rclonePath === null ? {} : { RCLONE_PATH: rclonePath },
    skip: lacksRclone,
  },
  'the keys of web push': { service: push, name: 'vapid', row: { ...named, table: 'keys', value: 'vapid' } },
  'the secret of tokens in Databases': { service: data, name: 'jwt', row: { ...named, value: 'jwt' } },
  'the host key of SSH': {
    service: git,
    name: 'ssh-ed25519',
    row: { ...named, table: 'host_keys', value: 'ssh-ed25519' },
  },
};

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'homeport-keys-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

async function withHost<T>({ service, environment = {} }: StoredKey, work: (host: TestHost) => Promise<T>): Promise<T> {
  const services = [...new Set([service, control, push])];
  await using host = await openTestHost({ services, dataDir, environment });
  return await work(host);
}

async function getServiceState(host: TestHost, id: string): Promise<ServiceState> {
  const { services } = await api<{ services: ServiceState[] }>(host.url('control'), '/api/services');
  const state = services.find((entry) => entry.id === id);
  if (state === undefined) throw new Error(`no service ${id}`);
  return state;
}

/** Sends a request that loads an unused service and starts rclone, so that the key exists. */
async function sendFirstRequest(host: TestHost, id: string): Promise<void> {
  if (id === 'sync') await api(host.url('control'), '/api/sync/remotes');
  else if (id !== 'gateway') await (await fetch(host.url(id))).arrayBuffer();
}

/** Reads or replaces the stored form of a key; undefined if it is missing. */
function stored({ service, row }: StoredKey, next?: string): string | undefined {
  if (row === undefined) return undefined;
  const database = new Sqlite(join(dataDir, service.id, 'db.sqlite'));
  try {
    const { table, column, sealed, value } = row;
    if (next !== undefined) database.prepare(`update ${table} set ${sealed} = ? where ${column} = ?`).run(next, value);
    const storedRow = database.prepare(`select ${sealed} as sealed from ${table} where ${column} = ?`).get(value);
    return (storedRow as { readonly sealed: string } | undefined)?.sealed;
  } finally {
    database.close();
  }
}

describe('a stored key that the vault cannot open', () => {
  it.each(Object.entries(keys).filter(([, { skip = false }]) => !skip))(
    'is reported and not replaced until an administrator does: %s',
    async (_, key) => {
      const { id } = key.service;
      await withHost(key, async (host) => {
        await expect.poll(async () => (await getServiceState(host, id)).state).toBe('up');
        await sendFirstRequest(host, id);
      });
      const before = stored(key);
      expect(before).toBeTypeOf('string');
      const damaged = `${before?.slice(0, -9) ?? ''}AAAAAAAA${before?.slice(-1) ?? ''}`;
      stored(key, damaged);
      // The certificate authority is used when a certificate is issued.
      if (id === 'gateway') stored({ ...key, row: leafRow }, 'v1.damaged');
      await withHost(key, async (host) => {
        // The gateway continues without a certificate; the other services do not start.
        await expect
          .poll(async () => (await getServiceState(host, id)).state)
          .toBe(id === 'gateway' ? 'degraded' : 'failed');
        const { reason, remedy } = await getServiceState(host, id);
        expect(reason).toContain(`homeport keys replace ${id} ${key.name}`);
        expect(remedy).toMatchObject({
          adminOnly: true,
          post: { path: `/api/services/${id}/keys/${key.name}/replace` },
        });
        expect(stored(key)).toBe(damaged);
        await api(host.url('control'), `/api/services/${id}/keys/${key.name}/replace`, { method: 'POST', body: '{}' });
        await expect.poll(async () => (await getServiceState(host, id)).state).toBe('up');
        await sendFirstRequest(host, id);
      });
      expect(stored(key)).not.toBe(damaged);
    },
  );

  it('is issued again if it is the key of the certificate, which no device trusts directly', async () => {
    const key = keys['the key of the local certificate authority'];
    if (key === undefined) throw new Error('no authority');
    const leaf = { ...key, row: leafRow };
    await withHost(key, async (host) => {
      await expect.poll(async () => (await getServiceState(host, 'gateway')).state).toBe('up');
    });
    const authority = stored(key);
    expect(stored(leaf)).toBeTypeOf('string');
    const damaged = `${stored(leaf)?.slice(0, -9) ?? ''}AAAAAAAAA`;
    stored(leaf, damaged);
    await withHost(key, async (host) => {
      await expect.poll(async () => (await getServiceState(host, 'gateway')).state).toBe('up');
    });
    expect(stored(leaf)).not.toBe(damaged);
    expect(stored(key)).toBe(authority);
  });
});
