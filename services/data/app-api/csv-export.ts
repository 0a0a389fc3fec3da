import * as m from '#messages/data-problems';
import type pg from 'pg';
import { BytesReply, implement, type ApiHandler } from '../../contracts/api.ts';
import { dataCsvApi, maxCsvBytes } from '../../contracts/data/csv.ts';
import { Problem } from '../../contracts/problem.ts';
import { inTransaction, type Database } from '../engine/database.ts';
import type { Settings } from '../settings.ts';
import { quote } from '../postgrest-api/statement/sql.ts';
import { readTableShape, type TableShape } from './table-shape.ts';

/** Number of rows per read. */
const rowsPerRead = 100;
const asText = { getTypeParser: () => (text: string) => text };

/** Creates the route that exports a table as CSV, in the form that the import accepts. */
export function createCsvExportRoute({
  database,
  settings,
}: {
  readonly database: Database;
  readonly settings: Pick<Settings, 'schemas'>;
}): ApiHandler {
  return implement(dataCsvApi.save, async ({ params }) => {
    const shape = await database.withCatalogue((pool) => readTableShape(pool, settings.schemas, params));
    const bytes = await database.asOwner((pool) => inTransaction(pool, (client) => exportCsv(client, shape)));
    return new BytesReply({ bytes, type: 'text/csv; charset=utf-8', saveAs: `${params['name'] ?? 'table'}.csv` });
  });
}

async function exportCsv(client: pg.ClientBase, { columns, reference }: TableShape): Promise<Buffer> {
  // The size is measured in the snapshot that is read.
  await client.query('set transaction isolation level repeatable read');
  const lengths = columns.map(({ name }) => `coalesce(sum(octet_length(${quote(name)}::text)::float8), 0)`);
  const { rows: sizes } = await client.query<{ bytes: number }>(
    `select ${['0::float8', ...lengths].join(' + ')} as bytes from ${reference}`,
  );
  // A few rows can exceed the memory of this process.
  if ((sizes[0]?.bytes ?? 0) > maxCsvBytes) throw createTooLargeError();
  const selected = columns.map(({ name }) => `${quote(name)}::text`);
  const key = columns.filter(({ isKey }) => isKey).map(({ name }) => quote(name));
  const order = key.length === 0 ? '' : ` order by ${key.join(', ')}`;
  await client.query(`declare saved no scroll cursor for select ${selected.join(', ')} from ${reference}${order}`);
  const chunks = [Buffer.from(`${formatLine(columns.map(({ name }) => name))}\n`)];
  let length = 0;
  for (;;) {
    const { rows } = await client.query<(string | null)[]>({
      text: `fetch ${rowsPerRead} from saved`,
      rowMode: 'array',
      types: asText,
    });
    if (rows.length === 0) return Buffer.concat(chunks);
    const chunk = Buffer.from(rows.map((row) => `${formatLine(row)}\n`).join(''));
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxCsvBytes) throw createTooLargeError();
  }
}

function createTooLargeError(): Problem {
  return new Problem('data.too_large', 413, m.exportTooLarge());
}

/** Formats one line. NULL is an empty field, an empty text is a quoted field. */
function formatLine(values: readonly (string | null)[]): string {
  return values
    .map((value) =>
      value === null ? '' : value === '' || /[",;\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value,
    )
    .join(',');
}
