import * as m from '#messages/command-line';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Migration } from '../../../services/contracts/service.ts';
import { readText } from '../../../services/contracts/text.ts';
import { incompleteMove } from '../database/migrate.ts';
import { copyTables, countRows, isEmpty } from '../database/move/copy-tables.ts';
import { hostDatabase, type MovePlace } from '../database/move/move-place.ts';
import { SqlitePlace } from '../database/move/sqlite-place.ts';
import { hostMigrations } from '../host-migrations.ts';
import { jobsMigrations } from '../jobs/jobs.ts';
import { openKernelQuietly, quietLog, type DataLocation } from './command-kernel.ts';
import type { Command, DatabasePlace } from './command-line.ts';

type MoveCommand = Extract<Command, { readonly name: 'database move' }>;

/** Database of the host or of a service. */
interface MovedDatabase {
  readonly id: string;
  readonly title: string;
  readonly steps: readonly Migration[];
}

/**
 * Moves the tables of all services between SQLite and PostgreSQL. The caller has locked the data folder.
 * @param url Address of the PostgreSQL database; empty when none is configured
 * @throws Problem `database.url_missing` (422), `database.in_use` (409), `database.move_source_missing` (404),
 * `database.move_target_not_empty` (409), and those of the copy. The source is unchanged then.
 */
export async function moveDatabase(command: MoveCommand, location: DataLocation, url: string): Promise<void> {
  if (url === '') throw new Problem('database.url_missing', 422, m.databaseUrlMissing());
  const source = await openPlace(command.from, location, url);
  const target = await openPlace(command.to, location, url);
  await using sourceLock = await source.lock();
  await using targetLock = await target.lock();
  const databases = await listDatabases(source, location);
  if (await source.isIncomplete()) throw new Problem('database.move_source_incomplete', 409, m.databaseIncomplete());
  await requireEmpty(target, databases);
  if (command.dryRun) return await printContent(source, databases);
  // Secrets in the tables would be lost without the key with which they were encrypted.
  if (command.from === 'postgres') await requireKey(location);
  for (const database of databases) await copyDatabase(source, target, database, command.to);
  // Hosts start on the target as soon as it is complete.
  for (const lock of [sourceLock, targetLock]) await lock.verify();
  await target.complete();
  await source.setAside(databases.map(({ id }) => id));
  print(command.to === 'postgres' ? m.databaseMovedToPostgres() : m.databaseMovedToSqlite());
}

/** @throws Problem `vault.key_foreign` (500) when the key of this data folder is not that of the database. */
async function requireKey(location: DataLocation): Promise<void> {
  await using _kernel = await openKernelQuietly(location, { readOnly: true, isMove: true });
}

async function openPlace(place: DatabasePlace, { dataDir }: DataLocation, url: string): Promise<MovePlace> {
  const log = quietLog().child('database');
  if (place === 'sqlite') return new SqlitePlace(dataDir, log);
  const { PostgresPlace } = await import('../database/move/postgres-place.ts');
  return new PostgresPlace(url, log);
}

/** Returns the existing databases of the source. That of the host is the first, since it contains the mark of the move. */
async function listDatabases(source: MovePlace, { descriptors }: DataLocation): Promise<readonly MovedDatabase[]> {
  const all: readonly MovedDatabase[] = [
    { id: hostDatabase, title: 'Homeport', steps: hostMigrations },
    ...descriptors.map(({ id, title, migrations }) => ({
      id,
      title: readText(title),
      steps: [...jobsMigrations, ...migrations],
    })),
  ];
  const existing: MovedDatabase[] = [];
  for (const database of all) if (await source.exists(database.id)) existing.push(database);
  if (existing[0]?.id !== hostDatabase)
    throw new Problem('database.move_source_missing', 404, m.databaseSourceMissing());
  return existing;
}

/** Requires a target without data, except for the data of an interrupted move. */
async function requireEmpty(target: MovePlace, databases: readonly MovedDatabase[]): Promise<void> {
  if (await target.isIncomplete()) return;
  for (const { id, title } of databases) {
    if (!(await target.exists(id))) continue;
    await using side = await target.open(id, { readOnly: true });
    if (!(await isEmpty(side)))
      throw new Problem('database.move_target_not_empty', 409, m.databaseTargetNotEmpty({ service: title }));
  }
}

async function printContent(source: MovePlace, databases: readonly MovedDatabase[]): Promise<void> {
  for (const { id, title } of databases) {
    await using side = await source.open(id, { readOnly: true });
    const { tables, rows } = await countRows(side);
    print(m.databaseLine({ service: title, tables, rows }));
  }
  print(m.databaseNotMoved());
}

async function copyDatabase(
  source: MovePlace,
  target: MovePlace,
  { id, title, steps }: MovedDatabase,
  to: DatabasePlace,
): Promise<void> {
  const mark: Migration = { name: incompleteMove, up: () => Promise.resolve() };
  await source.migrate(id, steps);
  await target.migrate(id, id === hostDatabase ? [mark, ...steps] : steps);
  await using from = await source.open(id, { readOnly: true });
  await using into = await target.open(id, { readOnly: false });
  const { tables, rows, replaced } = await copyTables(from, into, { acceptsNul: to === 'sqlite' });
  print(m.databaseLine({ service: title, tables, rows }));
  for (const [column, count] of replaced) print(m.databaseNulReplaced({ column: `${id}.${column}`, count }));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
