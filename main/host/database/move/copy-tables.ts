import * as m from '#messages/host-problems';
import { Problem } from '../../../../services/contracts/problem.ts';
import { NulReplacement, TableChecksum, type ColumnType, type MovedTable, type TableTotal } from './moved-table.ts';
import type { MoveSide } from './move-side.ts';

/** Result of a copy. */
export interface CopyResult {
  readonly tables: number;
  readonly rows: number;
  /** Number of values by column whose NUL characters were replaced. */
  readonly replaced: ReadonlyMap<string, number>;
}

/** Counts the tables and rows of a service. */
export async function countRows(source: MoveSide): Promise<Pick<CopyResult, 'tables' | 'rows'>> {
  const tables = await source.listTables();
  let rows = 0;
  for (const table of tables) rows += (await readTotal(source, table)).count;
  return { tables: tables.length, rows };
}

/** Returns whether no table has a row. */
export async function isEmpty(side: MoveSide): Promise<boolean> {
  for (const table of await side.listTables())
    for await (const batch of side.readRows(table)) if (batch.length > 0) return false;
  return true;
}

/**
 * Replaces the content of a service's tables by that of another side, and compares both afterwards. Both sides have the same
 * migrations.
 * @param acceptsNul Whether the target stores NUL characters in texts
 * @throws Problem `database.move_different` (500) when a row was not copied exactly
 */
export async function copyTables(
  source: MoveSide,
  target: MoveSide,
  { acceptsNul }: { readonly acceptsNul: boolean },
): Promise<CopyResult> {
  const tables = await listCommonTables(source, target);
  const replacement = new NulReplacement();
  const totals = new Map<string, TableTotal>();
  await target.replaceRows(tables, async (writer) => {
    for (const table of tables) {
      const checksum = new TableChecksum();
      for await (const batch of source.readRows(table)) {
        const rows = acceptsNul ? batch : batch.map((row) => replacement.apply(table, row));
        for (const row of rows) checksum.add(table, row);
        await writer.insert(table, rows);
      }
      totals.set(table.name, checksum.total);
    }
    await writer.setSequences(await source.readSequences());
  });
  let rows = 0;
  for (const table of tables) {
    const [expected, actual] = [totals.get(table.name), await readTotal(target, table)];
    if (expected?.count !== actual.count || expected.checksum !== actual.checksum)
      throw new Problem('database.move_different', 500, () => m.moveDifferent({ table: table.name }));
    rows += actual.count;
  }
  return { tables: tables.length, rows, replaced: replacement.counts };
}

/**
 * Returns the tables in the order of the source, which have the same columns on both sides. Fractions are stored in integer
 * columns of SQLite and in real columns of PostgreSQL.
 */
async function listCommonTables(source: MoveSide, target: MoveSide): Promise<readonly MovedTable[]> {
  const tables = await source.listTables();
  const others = new Map((await target.listTables()).map((table) => [table.name, table]));
  if (others.size !== tables.length) throw new Error('the databases have different tables');
  return tables.map((table) => {
    const types = new Map(others.get(table.name)?.columns.map(({ name, type }) => [name, type]));
    const columns = table.columns.map(({ name, type }) => ({ name, type: toCommonType(type, types.get(name)) }));
    const isSame = table.kind === others.get(table.name)?.kind && types.size === columns.length;
    if (isSame && columns.every(({ type }) => type !== undefined)) return { ...table, columns } as MovedTable;
    throw new Error(`the table "${table.name}" has different columns in the databases`);
  });
}

function toCommonType(type: ColumnType, other: ColumnType | undefined): ColumnType | undefined {
  if (type === other) return type;
  return [type, other].toSorted().join() === 'integer,real' ? 'real' : undefined;
}

async function readTotal(side: MoveSide, table: MovedTable): Promise<TableTotal> {
  const checksum = new TableChecksum();
  for await (const batch of side.readRows(table)) for (const row of batch) checksum.add(table, row);
  return checksum.total;
}
