import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { restore } from '../../../services/data/engine/backup.ts';
import { majorVersion } from '../../../services/data/engine/cluster-version.ts';
import { rebuildOutdatedIndexes } from '../../../services/data/engine/collations.ts';
import { superuser } from '../../../services/data/engine/cluster.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { openDataFixture } from './data-fixture.ts';

let folder: string;
let dataDir: string;
let cluster: string;
let backup: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-restored-'));
  dataDir = join(folder, 'data');
  cluster = join(dataDir, 'data', 'cluster');
  backup = join(folder, 'backup');
  mkdirSync(dataDir);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Creates a cluster with one row and copies its files as a backup does; files are listed as Windows writes paths. */
async function createBackup(): Promise<void> {
  {
    await using fixture = await openDataFixture({ dataDir });
    await fixture.sql('create table kept (id int primary key); insert into kept values (1)');
  }
  cpSync(cluster, join(backup, 'cluster'), { recursive: true });
  const folders = readdirSync(cluster, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(cluster.length + 1)
        .replaceAll('/', '\\'),
    );
  writeFileSync(join(backup, 'folders.json'), JSON.stringify(folders));
}

describe('restore of a cluster from another computer', () => {
  it('serves the rows although they were created on another operating system', async () => {
    await createBackup();
    const settings = join(backup, 'cluster', 'postgresql.conf');
    const text = readFileSync(settings, 'utf8').replace(/^dynamic_shared_memory_type = .*$/m, '');
    writeFileSync(settings, `${text}dynamic_shared_memory_type = windows\r\n`);
    rmSync(join(backup, 'cluster', 'pg_replslot'), { recursive: true });
    await restore(cluster, backup);
    await using fixture = await openDataFixture({ dataDir });
    expect(await fixture.sql('select id from kept')).toEqual([{ id: 1 }]);
  });

  it('refuses another major version and preserves the existing cluster', async () => {
    await createBackup();
    expect(readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()).toBe(majorVersion);
    writeFileSync(join(backup, 'cluster', 'PG_VERSION'), '17\n');
    await expect(restore(cluster, backup)).rejects.toMatchObject({ code: 'data.backup_version', status: 503 });
    await using fixture = await openDataFixture({ dataDir });
    expect(await fixture.sql('select id from kept')).toEqual([{ id: 1 }]);
  });

  it.each(['../outside', 'base\\..\\..\\..\\outside', 'C:\\outside'])(
    'refuses a list of folders with %s',
    async (path) => {
      mkdirSync(join(backup, 'cluster'), { recursive: true });
      writeFileSync(join(backup, 'cluster', 'PG_VERSION'), majorVersion);
      writeFileSync(join(backup, 'folders.json'), JSON.stringify([path]));
      await expect(restore(cluster, backup)).rejects.toMatchObject({ code: 'data.backup_path' });
      expect(readdirSync(dataDir)).not.toContain('outside');
    },
  );
});

/** Runs statements as the superuser through the socket of the running server. */
async function asSuperuser(text: string): Promise<Record<string, unknown>[]> {
  await using client = await connectAsSuperuser();
  return (await client.query<Record<string, unknown>>(text)).rows;
}

/** Opens a session of the superuser, which ends at disposal. */
async function connectAsSuperuser(): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ host: cluster, port: 5432, user: superuser, database: 'postgres' });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

describe('a server with indexes ordered by a library of the system', () => {
  const indexFile = "select pg_relation_filenode('names_name_idx') as file";

  it('has them rebuilt once when the library has another version', async () => {
    let before: unknown;
    {
      await using fixture = await openDataFixture({ dataDir });
      await fixture.sql(`create table names (name text collate "de-x-icu"); create index on names (name);
        insert into names values ('Ärger'), ('Zebra')`);
      before = await asSuperuser(indexFile);
      await asSuperuser("update pg_collation set collversion = '1' where collname = 'de-x-icu'");
    }
    let rebuilt: unknown;
    {
      await using fixture = await openDataFixture({ dataDir });
      expect(await fixture.sql('select name from names order by name')).toEqual([{ name: 'Ärger' }, { name: 'Zebra' }]);
      rebuilt = await asSuperuser(indexFile);
      expect(rebuilt).not.toEqual(before);
    }
    await using fixture = await openDataFixture({ dataDir });
    await fixture.sql('select 1');
    expect(await asSuperuser(indexFile)).toEqual(rebuilt);
  });
});

describe('rebuild of indexes', () => {
  /** Makes the library appear to have another version than the one that ordered the indexes. */
  const changeLibrary = "update pg_collation set collversion = '1' where collname = 'de-x-icu'";
  const versionQuery = `select collversion, collversion = pg_collation_actual_version(oid) as "isCurrent"
    from pg_collation where collname = 'de-x-icu'`;
  const names = `create table names (name text collate "de-x-icu"); insert into names values ('Ärger'), ('Zebra');`;
  const readIndexFile = async (index: string) => await asSuperuser(`select pg_relation_filenode('${index}') as file`);

  function createLog() {
    const warnings: { readonly message: string; readonly index: unknown }[] = [];
    const log = {
      info: () => undefined,
      warn: (message: string, fields: Record<string, unknown>) =>
        void warnings.push({ message, index: fields['index'] }),
    };
    return { warnings, log: log as unknown as Log };
  }

  /** Runs the rebuild in a separate session and returns its warnings. */
  async function rebuild() {
    const { log, warnings } = createLog();
    await using client = await connectAsSuperuser();
    await rebuildOutdatedIndexes(client, log);
    return warnings;
  }

  it.each([
    ['a range', 'create type words as range (subtype = text, collation = "de-x-icu")', 'words'],
    ['an array of ranges', 'create type words as range (subtype = text, collation = "de-x-icu")', 'words[]'],
    [
      'several ranges',
      'create type words as range (subtype = text, multirange_type_name = wordlist, collation = "de-x-icu")',
      'wordlist',
    ],
    ['a composite type', 'create type words as (size int, name text collate "de-x-icu")', 'words'],
    [
      'a domain over a composite type',
      'create type inner_words as (name text collate "de-x-icu"); create domain words as inner_words',
      'words',
    ],
  ])('includes indexes of columns with %s', async (_name, type, column) => {
    await using fixture = await openDataFixture({ dataDir });
    await fixture.sql(`${type}; create table lists (entry ${column}); create index on lists (entry)`);
    const before = await readIndexFile('lists_entry_idx');
    await asSuperuser(changeLibrary);
    expect(await rebuild()).toEqual([]);
    expect(await readIndexFile('lists_entry_idx')).not.toEqual(before);
    expect(await asSuperuser(versionQuery)).toMatchObject([{ isCurrent: true }]);
  });

  it('happens once after a restore from a system whose library has no versions', async () => {
    await using fixture = await openDataFixture({ dataDir });
    await fixture.sql(`${names} create index on names (name)`);
    const before = await readIndexFile('names_name_idx');
    await asSuperuser("update pg_collation set collversion = null where collname = 'de-x-icu'");
    expect(await rebuild()).toEqual([]);
    const rebuilt = await readIndexFile('names_name_idx');
    expect(rebuilt).not.toEqual(before);
    expect(await asSuperuser(versionQuery)).toMatchObject([{ isCurrent: true }]);
    expect(await rebuild()).toEqual([]);
    expect(await readIndexFile('names_name_idx')).toEqual(rebuilt);
  });

  it('happens once after a restore on a system whose library has no versions', async () => {
    await using fixture = await openDataFixture({ dataDir });
    await fixture.sql(`${names} create index on names (name)`);
    const before = await readIndexFile('names_name_idx');
    const { log, warnings } = createLog();
    await using client = await connectAsSuperuser();
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    const macClient = {
      query: (text: string, ...rest: unknown[]) =>
        text.includes('pg_collation_actual_version') ? { rows: [{ version: null }] } : query(text, ...rest),
    } as unknown as pg.Client;
    await rebuildOutdatedIndexes(macClient, log);
    const rebuilt = await readIndexFile('names_name_idx');
    expect(rebuilt).not.toEqual(before);
    await rebuildOutdatedIndexes(macClient, log);
    expect(await readIndexFile('names_name_idx')).toEqual(rebuilt);
    expect(warnings).toEqual([]);
  });

  it('skips temporary tables of other sessions', async () => {
    await using fixture = await openDataFixture({ dataDir });
    await fixture.sql(`${names} create index on names (name)`);
    await using other = await connectAsSuperuser();
    await other.query('create temporary table drafts (name text collate "de-x-icu"); create index on drafts (name)');
    await asSuperuser(changeLibrary);
    expect(await rebuild()).toEqual([]);
    expect(await asSuperuser(versionQuery)).toMatchObject([{ isCurrent: true }]);
  });

  it('continues after an index that fails, reports it and tries again at the next start', async () => {
    await using fixture = await openDataFixture({ dataDir });
    await fixture.sql(`${names}
      create function check_name(name text) returns text language plpgsql immutable as 'begin return name; end';
      create index names_a_idx on names (check_name(name));
      create index names_b_idx on names (name);
      create or replace function check_name(name text) returns text language plpgsql immutable
        as 'begin raise exception ''not now''; end'`);
    const before = await readIndexFile('names_b_idx');
    await asSuperuser(changeLibrary);
    const failure = { message: 'postgresql index not rebuilt', index: 'public.names_a_idx' };
    expect(await rebuild()).toEqual([failure]);
    expect(await readIndexFile('names_b_idx')).not.toEqual(before);
    expect(await rebuild()).toEqual([failure]);
  });

  it('continues after a collation that the library does not have', async () => {
    await using fixture = await openDataFixture({ dataDir });
    await fixture.sql(`${names} create index on names (name);
      create table cities (name text collate "da-x-icu"); create index on cities (name)`);
    const before = await readIndexFile('names_name_idx');
    await asSuperuser(changeLibrary);
    const [row] = await asSuperuser("select oid::text from pg_collation where collname = 'da-x-icu'");
    const { log, warnings } = createLog();
    await using client = await connectAsSuperuser();
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    const failing = {
      query: (text: string, values?: unknown[]) =>
        text.includes('pg_collation_actual_version') && values?.[0] === row?.['oid']
          ? Promise.reject(new Error('could not open collator for locale "da"'))
          : query(text, values),
    } as unknown as pg.Client;
    await rebuildOutdatedIndexes(failing, log);
    expect(warnings).toEqual([{ message: 'postgresql collation not available', index: undefined }]);
    expect(await readIndexFile('names_name_idx')).not.toEqual(before);
  });

  it('never prevents the start of the server', async () => {
    const { log, warnings } = createLog();
    const client = { query: () => Promise.reject(new Error('invalid catalog')) } as unknown as pg.Client;
    await expect(rebuildOutdatedIndexes(client, log)).resolves.toBeUndefined();
    expect(warnings).toEqual([{ message: 'postgresql index check failed', index: undefined }]);
  });
});
