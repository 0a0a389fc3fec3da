import { sql, type Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import type { EscalationTable, NotifyTables } from './tables.ts';

export const escalations: Migration = {
  name: '010-add-escalation',
  async up(db: Kysely<any>) {
    await db.schema
      .createTable('escalations')
      .addColumn('notice_id', 'text', (column) => column.notNull().references('notices.id').onDelete('cascade'))
      .addColumn('destination_id', 'text', (column) => column.notNull())
      .addColumn('chain', 'integer', (column) => column.notNull())
      .addColumn('level', 'bigint', (column) => column.notNull())
      .addColumn('optional', 'integer', (column) => column.notNull())
      .addColumn('held', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('escalations_key', ['notice_id', 'destination_id'])
      .execute();
  },
};

/** State of a chain's current level. */
export type LevelState =
  | { readonly kind: 'open' | 'over' }
  /** The level failed: its destinations, and the deliveries of the next level. */
  | { readonly kind: 'failed'; readonly failed: readonly string[]; readonly next: readonly string[] };

/** Inserts the levels of a chain, including the first one, whose failure must be detected. */
export async function insertLevels(
  transaction: Kysely<NotifyTables>,
  notificationId: string,
  rows: readonly Omit<EscalationTable, 'notice_id'>[],
): Promise<void> {
  if (rows.length === 0) return;
  await transaction
    .insertInto('escalations')
    .values(rows.map((row) => ({ notice_id: notificationId, ...row })))
    .execute();
}

/**
 * Checks the current level of a chain after an attempt. If the level succeeded, the chain is deleted; if it failed,
 * the next level is returned, whose deliveries the caller creates in the same transaction.
 */
export async function advanceChain(
  transaction: Kysely<NotifyTables>,
  notificationId: string,
  chain: number,
): Promise<LevelState> {
  // The update locks the chain: of two simultaneous attempts, the second one sees the result of the first.
  const rows = await transaction
    .updateTable('escalations')
    .set({ chain: sql`chain` })
    .where('notice_id', '=', notificationId)
    .where('chain', '=', chain)
    .returning(['destination_id', 'level', 'optional', 'held'])
    .execute();
  if (rows.length === 0) return { kind: 'over' };
  const levels = [...new Set(rows.map(({ level }) => Number(level)))].sort((a, b) => a - b);
  const rowsOfLevel = (level: number | undefined) => rows.filter((row) => Number(row.level) === level);
  const [currentLevel, nextLevel] = levels;
  const currentRows = rowsOfLevel(currentLevel);
  const deliveries = await transaction
    .selectFrom('deliveries')
    .select(['destination_id', 'state', 'attempts'])
    .where('notice_id', '=', notificationId)
    .where(
      'destination_id',
      'in',
      currentRows.map(({ destination_id }) => destination_id),
    )
    .execute();
  const needed = new Set(
    currentRows.filter(({ optional }) => optional === 0).map(({ destination_id }) => destination_id),
  );
  const states = deliveries.filter(({ destination_id }) => needed.has(destination_id));
  const forget = (all: boolean) => {
    const rest = transaction
      .deleteFrom('escalations')
      .where('notice_id', '=', notificationId)
      .where('chain', '=', chain);
    return (all || currentLevel === undefined ? rest : rest.where('level', '=', currentLevel)).execute();
  };
  if (nextLevel === undefined || needed.size === 0 || states.some(({ state }) => state === 'done')) {
    await forget(true);
    return { kind: 'over' };
  }
  if (!states.every(({ state, attempts }) => state === 'dead' || attempts > 0)) return { kind: 'open' };
  const next = rowsOfLevel(nextLevel).map(({ held }) => held);
  // After the last level, no row of the chain is needed.
  await forget(levels.length === 2);
  return { kind: 'failed', failed: [...needed], next };
}
