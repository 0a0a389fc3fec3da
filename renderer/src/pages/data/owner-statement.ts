import * as m from '#messages/data';
import { dataApi } from '../../../../services/contracts/data/api.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import { call } from '../../api/call.ts';
import { joinSentences } from '../../parts/text/join-sentences.ts';

export { quoteIdentifier } from '../../../../services/contracts/data/sql-names.ts';

/**
 * Runs statements as the table owner in one transaction.
 *
 * @throws {Problem} With the PostgreSQL error.
 */
export async function runAsOwner(query: string): Promise<void> {
  const { error } = await call(dataApi.run, { body: { query, role: 'owner', user: '' } });
  if (error === null) return;
  throw new Problem('data.refused', 409, joinSentences(m.refusal({ message: error.message }), error.hint ?? ''));
}
