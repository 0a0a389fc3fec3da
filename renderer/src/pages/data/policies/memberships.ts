import type { DataForeignKey } from '../../../../../services/contracts/data/schema.ts';

/** Served tables with their columns and the foreign keys between them. */
export interface Diagram {
  readonly tables: readonly {
    readonly schema: string;
    readonly name: string;
    readonly isView: boolean;
    readonly isServed: boolean;
    readonly columns: readonly { readonly name: string; readonly type: string }[];
  }[];
  readonly foreignKeys: readonly DataForeignKey[];
}

/** Table that assigns users to the rows of another table, such as the members of a team. */
export interface Membership {
  readonly schema: string;
  readonly table: string;
  /** Column with the user's ID. */
  readonly userColumn: string;
  /** Column with the same value as `ownColumn` in the protected table. */
  readonly memberColumn: string;
  readonly ownColumn: string;
}

interface TableName {
  readonly schema: string;
  readonly name: string;
}

/**
 * Finds membership tables for a table: they have a uuid column for the user, and reference the table itself or the same
 * table as one of its columns.
 */
export function findMemberships(table: TableName, { tables, foreignKeys }: Diagram): readonly Membership[] {
  const singleKeys = foreignKeys.filter(({ from, to }) => from.columns.length === 1 && to.columns.length === 1);
  const isTable = (end: DataForeignKey['from']): boolean => end.schema === table.schema && end.table === table.name;
  const ownKeys = singleKeys.filter(({ from }) => isTable(from));
  return singleKeys.flatMap(({ from, to }) => {
    const [memberColumn = ''] = from.columns;
    const source = tables.find(({ schema, name }) => schema === from.schema && name === from.table);
    if (isTable(from) || source === undefined || !source.isServed) return [];
    const userColumn = findUserColumn(source.columns, memberColumn, singleKeys, from);
    const ownColumn = isTable(to) ? to.columns[0] : ownKeys.find((key) => isSameColumn(key.to, to))?.from.columns[0];
    if (userColumn === undefined || ownColumn === undefined) return [];
    return [{ schema: from.schema, table: from.table, userColumn, memberColumn, ownColumn }];
  });
}

/** Finds the column with the user's ID: one that references a user first, then any other uuid column. */
function findUserColumn(
  columns: readonly { readonly name: string; readonly type: string }[],
  memberColumn: string,
  keys: readonly DataForeignKey[],
  { schema, table }: DataForeignKey['from'],
): string | undefined {
  const candidates = columns.filter(({ name, type }) => type === 'uuid' && name !== memberColumn);
  const referencesUser = (name: string): boolean =>
    keys.some(
      ({ from, to }) =>
        from.schema === schema && from.table === table && from.columns[0] === name && to.schema === 'auth',
    );
  const named = candidates.find(({ name }) => /user|member|owner|profile/i.test(name));
  return (candidates.find(({ name }) => referencesUser(name)) ?? named ?? candidates[0])?.name;
}

function isSameColumn(first: DataForeignKey['to'], second: DataForeignKey['to']): boolean {
  return first.schema === second.schema && first.table === second.table && first.columns[0] === second.columns[0];
}
