import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { restore } from '../../../services/data/engine/backup.ts';
import { majorVersion } from '../../../services/data/engine/cluster-version.ts';
import { superuser } from '../../../services/data/engine/cluster.ts';
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
  const client = new pg.Client({ host: cluster, port: 5432, user: superuser, database: 'postgres' });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
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
