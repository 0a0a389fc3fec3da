import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ServiceState } from '../../../services/contracts/control/api.ts';
import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import { runCommand } from '../../../main/host/cli/commands.ts';
import { addons } from '../../../services/addons/index.ts';
import { control } from '../../../services/control/index.ts';
import { data } from '../../../services/data/index.ts';
import { git } from '../../../services/git/index.ts';
import { push } from '../../../services/push/index.ts';
import { api } from '../../support/api.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';

let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'homeport-stored-keys-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

interface Case {
  readonly service: ServiceDescriptor<any, any>;
  readonly key: string;
  /** Reads the stored key. */
  readonly read: (folder: string) => string | undefined;
  readonly corrupt: (folder: string) => void;
}

/** Returns a case for a key in a table of the service's database. */
function inTable(service: ServiceDescriptor<any, any>, table: string, key: string): Case {
  const open = <T>(folder: string, work: (database: Database.Database) => T): T => {
    const database = new Database(join(folder, 'db.sqlite'));
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    ...{ service, key },
    read: (folder) =>
      open(folder, (database) => {
        const row = database.prepare(`select sealed from ${table} where name = ?`).get(key);
        return (row as { sealed: string } | undefined)?.sealed;
      }),
    corrupt: (folder) =>
      open(folder, (database) => {
        const corruptValue = `v1.${Buffer.alloc(60, 7).toString('base64url')}`;
        const { changes } = database.prepare(`update ${table} set sealed = ? where name = ?`).run(corruptValue, key);
        expect(changes).toBe(1);
      }),
  };
}

const cases: readonly Case[] = [
  inTable(push, 'keys', 'vapid'),
  inTable(push, 'keys', 'sync'),
  inTable(addons, 'secrets', 'server-key'),
  inTable(data, 'secrets', 'jwt'),
  inTable(git, 'host_keys', 'ssh-ed25519'),
];

async function fetchState(host: TestHost, id: string): Promise<ServiceState | undefined> {
  const { services } = await api<{ services: ServiceState[] }>(host.url('control'), '/api/services');
  return services.find((entry) => entry.id === id);
}

const open = (service: ServiceDescriptor<any, any>): Promise<TestHost> =>
  openTestHost({ services: [service, control], dataDir });

describe.each(cases.map((entry) => [entry.service.id, entry.key, entry] as const))(
  '%s: stored key %s',
  (id, key, its) => {
    const folder = (): string => join(dataDir, id);
    /** An unused service creates its keys with the first request. */
    const loadService = async (host: TestHost): Promise<void> => {
      await (await fetch(host.url(id))).arrayBuffer();
    };
    /** Starts once to create the key, and makes it unreadable. */
    const corruptValue = async (): Promise<string | undefined> => {
      const host = await open(its.service);
      await loadService(host);
      await vi.waitFor(() => expect(its.read(folder())).toBeDefined());
      await host[Symbol.asyncDispose]();
      its.corrupt(folder());
      return its.read(folder());
    };

    it('is never replaced automatically when unreadable, and the service explains the remedy', async () => {
      const before = await corruptValue();
      await using host = await open(its.service);
      await vi.waitFor(async () => {
        const state = await fetchState(host, id);
        expect(`${state?.reason ?? ''} ${state?.listeners.map(({ reason }) => reason).join('') ?? ''}`).toContain(
          `homeport keys replace ${id} ${key}`,
        );
      });
      expect(its.read(folder())).toBe(before);
    });

    it('is replaced by the action of the page with the former one beside it', async () => {
      const before = await corruptValue();
      await using host = await open(its.service);
      const path = `/api/services/${id}/keys/${key}/replace`;
      const state = await api<ServiceState>(host.url('control'), path, { method: 'POST' });
      expect(state.reason ?? '').not.toContain('cannot be read');
      await loadService(host);
      await vi.waitFor(() => expect(its.read(folder())).toBeDefined());
      expect(its.read(folder())).not.toBe(before);
    });

    it('is replaced by the command line', async () => {
      const before = await corruptValue();
      const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
      await runCommand(
        { name: 'keys replace', dataDir, service: id, key },
        { dataDir, descriptors: [its.service, control] },
      );
      write.mockRestore();
      expect(its.read(folder())).toBeUndefined();
      await using host = await open(its.service);
      await loadService(host);
      await vi.waitFor(() => expect(its.read(folder())).toBeDefined());
      expect(its.read(folder())).not.toBe(before);
    });
  },
);
