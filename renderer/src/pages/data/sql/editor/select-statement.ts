import type { DataTable } from '../../../../../../services/contracts/data/api.ts';
import { quoteIdentifier } from '../../owner-statement.ts';

/** Builds a statement that reads a table; an example if there is none. */
export function buildSelect(table: Pick<DataTable, 'schema' | 'name'> | undefined): string {
  if (table === undefined) return 'select * from notes';
  const prefix = table.schema === 'public' ? '' : `${quoteIdentifier(table.schema)}.`;
  return `select * from ${prefix}${quoteIdentifier(table.name)}`;
}
