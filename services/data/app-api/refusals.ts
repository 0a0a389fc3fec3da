import * as m from '#messages/data-problems';
import pg from 'pg';
import type { DataColumn } from '../../contracts/data/rows.ts';
import { Problem } from '../../contracts/problem.ts';
import { formatRefusal } from '../schema/refusal.ts';
import type { TableShape } from './table-shape.ts';

/** Values by column name, in PostgreSQL's text format. */
export type Values = Readonly<Record<string, string | null>>;

/**
 * Runs `work` and converts errors of PostgreSQL to problems, with the affected field when it can be determined.
 *
 * @throws Problem `data.refused` (409)
 */
export async function withRefusals<T>(
  client: pg.ClientBase,
  { columns }: TableShape,
  values: Values,
  work: () => Promise<T>,
): Promise<T> {
  await client.query('savepoint writing');
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    await client.query('rollback to savepoint writing');
    const fields = await findFields(client, columns, values, error);
    const plainReason = explainRefusal(error, undefined);
    const detail = plainReason ?? m.rejectedByPostgres({ reason: formatRefusal(error) });
    throw new Problem('data.refused', 409, detail, { fields, cause: error });
  }
}

/** Returns the messages of the columns that an error concerns. */
async function findFields(
  client: pg.ClientBase,
  columns: readonly DataColumn[],
  values: Values,
  error: pg.DatabaseError,
): Promise<Record<string, string>> {
  const explain = (failure: pg.DatabaseError, type?: string): string =>
    explainRefusal(failure, type) ?? formatRefusal(failure);
  // A constraint of one column names it in the detail.
  const column = error.column ?? /^Key \(([^,]+?)\)=/.exec(error.detail ?? '')?.[1];
  if (column !== undefined) return columns.some(({ name }) => name === column) ? { [column]: explain(error) } : {};
  const fields: Record<string, string> = {};
  if (error.code?.startsWith('22') !== true) return fields;
  // PostgreSQL does not report the invalid value, so each one is tested separately.
  for (const { name, type } of columns) {
    const value = values[name];
    if (typeof value !== 'string') continue;
    const message = await client.query(`select $1::text::${type}`, [value]).then(
      () => undefined,
      (failure: unknown) => (failure instanceof pg.DatabaseError ? explain(failure, type) : undefined),
    );
    if (message === undefined) continue;
    fields[name] = message;
    await client.query('rollback to savepoint writing');
  }
  // A cast truncates texts that an assignment rejects as too long.
  const [only, ...others] = columns.filter(({ name }) => typeof values[name] === 'string');
  if (only !== undefined && others.length === 0) fields[only.name] ??= explain(error, only.type);
  return fields;
}

type Refusal = Pick<pg.DatabaseError, 'code' | 'message' | 'detail' | 'constraint'>;

/**
 * Explains an error of PostgreSQL in plain language, followed by the original message; undefined for errors without an
 * explanation. SQLSTATE codes: appendix A of the PostgreSQL documentation.
 *
 * @param type type of the column, if the error concerns one
 */
function explainRefusal(error: Refusal, type: string | undefined): string | undefined {
  const explanation = getExplanation(error, type);
  return explanation === undefined ? undefined : m.refusalWithOriginal({ explanation, original: formatRefusal(error) });
}

function getExplanation({ code, detail, constraint = '' }: Refusal, type: string | undefined): string | undefined {
  switch (code) {
    case '23502':
      return m.valueRequired();
    case '23505':
      return m.valueNotUnique();
    case '23503': {
      const table = /table "([^"]+)"/.exec(detail ?? '')?.[1] ?? '';
      return detail?.includes('still referenced') === true
        ? m.rowStillReferenced({ table })
        : m.referencedRowMissing({ table });
    }
    case '23514':
      return m.checkFailed({ constraint });
    case '22001':
      return m.valueTooLong();
    case '22003':
      return m.numberOutOfRange();
    case '22P02':
    case '22007':
    case '22008':
      return type === undefined ? m.valueInvalid() : m.valueInvalidForType({ type });
    default:
      return undefined;
  }
}
