import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql, type Kysely } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { copyTables, type CopyResult } from '../../../main/host/database/move/copy-tables.ts';
import type { MoveLock, MovePlace } from '../../../main/host/database/move/move-place.ts';
import { PostgresPlace } from '../../../main/host/database/move/postgres-place.ts';
import { SqlitePlace } from '../../../main/host/database/move/sqlite-place.ts';
import { openDatabase, type Database } from '../../../main/host/database/open.ts';
import type { Migration } from '../../../services/contracts/service.ts';
import { isPostgres } from '../../../services/kit/dialect.ts';
import { ftsTokenizer, toTsVector } from '../../../services/kit/word-queries.ts';
import { silentLog } from '../../support/database-location.ts';
import { openPostgresDatabase } from '../../support/postgres.ts';

const files = new AsyncDisposableStack();
let url: string;
let dataDir: string;
let sqlite: MovePlace;
let postgres: MovePlace;
let number = 0;
/** Name of the folder and the schema of a test. */
let id: string;

beforeAll(async () => {
  url = files.use(await openPostgresDatabase()).url;
});
afterAll(() => files.disposeAsync());
beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'move-'));
  files.defer(() => rmSync(folder, { recursive: true, force: true }));
  dataDir = folder;
  number += 1;
  id = `moved${String(number)}`;
  mkdirSync(join(dataDir, id));
  sqlite = new SqlitePlace(dataDir, silentLog);
  postgres = new PostgresPlace(url, silentLog);
  for (const place of [sqlite, postgres]) await place.migrate(id, [createTables]);
});

/** Tables with all column types, references in a circle, a trigger, a full-text index and a row that a step inserts. */
const createTables: Migration = {
  name: '001',
  async up(db) {
    await db.schema
      .createTable('folders')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('parent', 'integer', (column) => column.references('folders.id'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('size', 'integer')
      .addColumn('ratio', 'real')
      .addColumn('content', 'blob')
      .execute();
    await db.schema
      .createTable('changes')
      .addColumn('folder', 'integer', (column) => column.notNull().references('folders.id').onDelete('cascade'))
      .execute();
    await db.insertInto('folders').values({ name: 'inserted by a step' }).execute();
    await (isPostgres(db) ? createPostgresObjects(db) : createSqliteObjects(db));
  },
};

async function createPostgresObjects(db: Kysely<any>): Promise<void> {
  await sql`create table folder_words (folder bigint primary key, words tsvector not null)`.execute(db);
  await sql`
    create function note_folder() returns trigger language plpgsql as $$
    begin
      insert into changes (folder) values (new.id);
      return null;
    end $$`.execute(db);
  await sql`create trigger folders_note after insert on folders for each row execute function note_folder()`.execute(
    db,
  );
  await sql`alter table folders alter column size type double precision`.execute(db);
}

async function createSqliteObjects(db: Kysely<any>): Promise<void> {
  await sql`
    create virtual table folder_words using fts5(
      words, content = '', contentless_delete = 1, tokenize = ${sql.raw(ftsTokenizer)})`.execute(db);
  await sql`
    create trigger folders_note after insert on folders begin insert into changes (folder) values (new.id); end`.execute(
    db,
  );
}

async function withTables<T>(dialect: Database['dialect'], work: (db: Kysely<any>) => Promise<T>): Promise<T> {
  const location = dialect === 'sqlite' ? { folder: join(dataDir, id) } : { folder: '', url };
  await using database = await openDatabase({ ...location, schema: id, log: silentLog });
  return await work(database.kysely);
}

async function copy(from: MovePlace, to: MovePlace): Promise<CopyResult> {
  await using source = await from.open(id, { readOnly: true });
  await using target = await to.open(id, { readOnly: false });
  return await copyTables(source, target, { acceptsNul: to === sqlite });
}

const rows = [
  { id: 3, parent: 7, name: 'text “ä” 🌊 \\ \' " \n', size: 1.5, ratio: 0.1, content: Buffer.from([0, 1, 255]) },
  { id: 7, parent: null, name: 'x'.repeat(300_000), size: 12, ratio: -1e300, content: Buffer.alloc(0) },
  { id: 9, parent: 3, name: '', size: 9_007_199_254_740_991, ratio: null, content: Buffer.alloc(70_000, 7) },
];

async function fill(db: Kysely<any>): Promise<void> {
  await db.deleteFrom('folders').execute();
  // Referenced rows follow the rows that refer to them.
  await db
    .insertInto('folders')
    .values(rows.map((row) => ({ ...row, parent: null })))
    .execute();
  for (const row of rows)
    await db.updateTable('folders').set({ parent: row.parent }).where('id', '=', row.id).execute();
  const removed = await db.insertInto('folders').values({ id: 50, name: 'removed' }).returning('id').execute();
  await db.deleteFrom('folders').where('id', '=', removed[0]?.['id']).execute();
  // Explicit numbers do not advance the sequence of PostgreSQL.
  if (isPostgres(db)) await sql`select setval(pg_get_serial_sequence('folders', 'id'), 50)`.execute(db);
  const terms = ['zeta', 'alpha', 'beta', 'alpha', 'größe'];
  await (
    isPostgres(db)
      ? sql`insert into folder_words values (7, ${toTsVector(terms)}::tsvector)`
      : sql`insert into folder_words (rowid, words) values (7, ${terms.join(' ')})`
  ).execute(db);
}

const readFolders = (db: Kysely<any>): Promise<unknown> =>
  db.selectFrom('folders').select(['id', 'parent', 'name', 'size', 'ratio', 'content']).orderBy('id').execute();

async function countPhrase(db: Kysely<any>): Promise<number> {
  const condition = isPostgres(db)
    ? sql`words @@ ('''beta'' <-> ''alpha'' <-> ''größe''')::tsquery`
    : sql`folder_words match '"beta alpha größe"'`;
  return (await sql`select 1 from folder_words where ${condition}`.execute(db)).rows.length;
}

it.each(['sqlite', 'postgres'] as const)(
  'copies all types, references, words and numbers from %s',
  async (dialect) => {
    const other = dialect === 'sqlite' ? 'postgres' : 'sqlite';
    await withTables(dialect, fill);
    const [from, to] = dialect === 'sqlite' ? [sqlite, postgres] : [postgres, sqlite];
    const result = await copy(from, to);
    expect(result).toMatchObject({ tables: 3, replaced: new Map() });
    await withTables(other, async (db) => {
      expect(await readFolders(db)).toEqual(rows.map((row) => ({ ...row, content: expect.anything() })));
      const contents = await db.selectFrom('folders').select('content').orderBy('id').execute();
      expect(contents.map(({ content }) => Buffer.from(content as Uint8Array))).toEqual(
        rows.map(({ content }) => content),
      );
      expect(await countPhrase(db)).toBe(1);
      const before = await withTables(dialect, (source) => source.selectFrom('changes').selectAll().execute());
      expect(await db.selectFrom('changes').selectAll().execute(), 'triggers do not run').toHaveLength(before.length);
      const [added] = await db.insertInto('folders').values({ name: 'new' }).returning('id').execute();
      expect(added?.['id'], 'numbers of deleted rows are not used again').toBe(51);
      expect(await db.selectFrom('changes').selectAll().execute(), 'triggers run again').toHaveLength(
        before.length + 1,
      );
      await expect(
        db.insertInto('changes').values({ folder: 999 }).execute(),
        'references are checked',
      ).rejects.toThrow();
    });
    expect((await copy(from, to)).rows, 'a repeated copy replaces the rows').toBe(result.rows);
  },
  30_000,
);

it('replaces NUL characters for PostgreSQL, and reports their columns', async () => {
  await withTables('sqlite', (db) => db.insertInto('folders').values({ name: 'a\u0000b\u0000' }).execute());
  expect((await copy(sqlite, postgres)).replaced).toEqual(new Map([['folders.name', 1]]));
  const names = await withTables('postgres', (db) => db.selectFrom('folders').select('name').orderBy('id').execute());
  expect(names.at(-1)).toEqual({ name: 'a\u{FFFD}b\u{FFFD}' });
});

it('changes nothing when a value does not have the type of its column', async () => {
  await withTables('sqlite', async (db) => {
    await sql`pragma foreign_keys = off`.execute(db);
    await sql`insert into changes (folder) values ('many')`.execute(db);
  });
  await expect(copy(sqlite, postgres)).rejects.toMatchObject({
    code: 'database.move_value',
    detail: expect.stringContaining('changes.folder'),
  });
  const names = await withTables('postgres', (db) => db.selectFrom('folders').select('name').execute());
  expect(names).toEqual([{ name: 'inserted by a step' }]);
});

it('sets databases aside under a new name', async () => {
  await sqlite.setAside([id]);
  expect(readdirSync(join(dataDir, id))).toEqual([expect.stringMatching(/^db\.sqlite\.moved_\d{8}t\d{6}$/)]);
  expect([await sqlite.exists(id), await postgres.exists(id)]).toEqual([false, true]);
  await postgres.setAside([id]);
  expect(await postgres.exists(id)).toBe(false);
});

it('prevents the start of hosts on PostgreSQL until the move has ended', async () => {
  const open = (): Promise<Database> => openDatabase({ folder: '', url, schema: id, log: silentLog });
  const running = await open();
  await expect(postgres.lock(), 'a host is running').rejects.toMatchObject({ code: 'database.in_use' });
  await running[Symbol.asyncDispose]();
  {
    await using lock = await lockWhenFree();
    await expect(open(), 'a host starts').rejects.toMatchObject({ code: 'database.moving' });
    await expect(postgres.lock(), 'another move').rejects.toMatchObject({ code: 'database.in_use' });
    await postgres.migrate(id, [createTables]);
    await lock.verify();
  }
  await vi.waitFor(async () => (await open())[Symbol.asyncDispose]());
});

it('notices that the lock of a move was lost with its connection', async () => {
  await using lock = await lockWhenFree();
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'homeport-move' and datname = current_database()`,
  );
  await admin.end();
  await expect(lock.verify()).rejects.toThrow();
  // A host can start as soon as the process that moved has ended.
  await vi.waitFor(() => withTables('postgres', () => Promise.resolve()));
});

/** Locks PostgreSQL for a move. The server notices the end of earlier connections after a moment. */
function lockWhenFree(): Promise<MoveLock> {
  return vi.waitFor(() => postgres.lock(), { timeout: 10_000, interval: 20 });
}
