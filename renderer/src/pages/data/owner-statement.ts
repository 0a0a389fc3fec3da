import * as m from '#messages/data';
import { dataApi } from '../../../../services/contracts/data/api.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import { call } from '../../api/call.ts';

/** Quotes an SQL identifier. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * Runs statements as the table owner in one transaction.
 *
 * @throws {Problem} With the PostgreSQL error.
 */
export async function runAsOwner(query: string): Promise<void> {
  const { error } = await call(dataApi.run, { body: { query, role: 'owner', user: '' } });
  if (error === null) return;
  throw new Problem('data.refused', 409, [m.refusal({ message: error.message }), error.hint ?? ''].join(' ').trim());
}
