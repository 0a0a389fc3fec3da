import { createHash } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import type { InboxOffer } from '../../contracts/inbox/api.ts';
import type { Migration } from '../../contracts/service.ts';
import { executeCached } from '../../kit/cached-statement.ts';
import { toBit, type Tables } from './tables.ts';

/** Maximum time in ms between two repeats, and since the start of a run. */
const maxPauseMs = 6 * 3_600_000;
const maxRunMs = 24 * 3_600_000;
/** Number of leading characters that identify a message without title. */
const bodyPrefixLength = 200;
/** Maximum number of counted repeats. */
const maxCountedRepeats = 1000;
/** Number of runs read by one statement, each of which may be long. */
const runsPerStatement = 100;

/**
 * Repeated messages form a run: similar messages with the same start. `latest` is 1 for the newest row of a run (for
 * done rows, the newest done one) and for every row without run, so that a list of newest rows is an index scan
 * regardless of the number of repeats. `change` and `was` record the last change of a row.
 */
export const repeatMigration: Migration = {
  name: '006-group-repeats',
  async up(db) {
    for (const name of ['likeness', 'since', 'change', 'was']) {
      await db.schema.alterTable('items').addColumn(name, 'integer').execute();
    }
    await db.schema
      .alterTable('items')
      .addColumn('latest', 'integer', (column) => column.notNull().defaultTo(1))
      .execute();
    await db.schema
      .createIndex('items_repeats')
      .on('items')
      .columns(['latest', 'likeness', 'since', 'done', 'id'])
      .execute();
    await db.schema.createIndex('items_latest').on('items').columns(['latest', 'done', 'id']).execute();
    await sql`create index items_change on items (change) where change is not null`.execute(db);
  },
};

/** Run of similar rows that followed each other. */
export interface RunKey {
  readonly likeness: number | null;
  readonly since: number | null;
}

/** Row of a run; done rows form a separate run. */
export interface RunRow extends RunKey {
  readonly done: boolean;
}

/** Position of a new row in its run. */
interface Placement {
  readonly likeness: number;
  readonly since: number;
  readonly latest: 0 | 1;
}

/** Positions of new rows in order, and the row each repeats: a stored row by id or a new one by index. */
interface Placements {
  readonly rows: readonly Placement[];
  readonly repeated: readonly ({ readonly id: number } | { readonly index: number } | undefined)[];
}

interface NewestRow {
  readonly since: number;
  readonly time: number;
  readonly position: { readonly id: number } | { readonly index: number };
}

/** Determines which new rows, oldest first, repeat another one, and clears `latest` of the rows they repeat. */
export async function assignRuns(transaction: Kysely<Tables>, offers: readonly InboxOffer[]): Promise<Placements> {
  const hashes = offers.map(hashContent);
  const newest = await findNewest(transaction, hashes, Math.min(...offers.map(({ time }) => time)) - maxRunMs);
  const rows: Placement[] = [];
  const repeated: Placements['repeated'][number][] = [];
  const supersededIds: number[] = [];
  for (const [index, { time }] of offers.entries()) {
    const contentHash = hashes[index] ?? 0;
    const previous = newest.get(contentHash);
    const isRepeat =
      previous !== undefined && Math.abs(time - previous.time) <= maxPauseMs && time - previous.since <= maxRunMs;
    const since = isRepeat ? previous.since : time;
    repeated.push(isRepeat ? previous.position : undefined);
    if (isRepeat && 'id' in previous.position) supersededIds.push(previous.position.id);
    if (isRepeat && 'index' in previous.position) {
      const { index: previousIndex } = previous.position;
      rows[previousIndex] = { ...(rows[previousIndex] ?? { likeness: contentHash, since }), latest: 0 };
    }
    rows.push({ likeness: contentHash, since, latest: 1 });
    newest.set(contentHash, { since, time, position: { index } });
  }
  if (supersededIds.length > 0) {
    await transaction.updateTable('items').set({ latest: 0 }).where('id', 'in', supersededIds).execute();
  }
  return { rows, repeated };
}

/** Returns open rows only: done rows no longer continue. */
async function findNewest(
  transaction: Kysely<Tables>,
  hashes: readonly number[],
  from: number,
): Promise<Map<number, NewestRow>> {
  const build = () =>
    transaction
      .selectFrom('items')
      .select(['id', 'likeness', 'since', 'time'])
      .where('latest', '=', 1)
      .where('likeness', 'in', hashes)
      .where('since', '>=', from)
      // The plus sign prevents SQLite from scanning all open rows with `items_latest`, which it prefers for many
      // hashes.
      .where(sql<number>`+done`, '=', 0)
      .orderBy('id')
      .compile();
  const statementKey = `inbox.repeats ${String(hashes.length)}`;
  const { rows } = await executeCached(transaction, statementKey, [1, ...hashes, from, 0], build);
  return new Map(
    rows.flatMap(({ id, likeness, since, time }) =>
      likeness === null || since === null ? [] : [[likeness, { since, time, position: { id } }] as const],
    ),
  );
}

/** Returns equal values for equal messages: same origin, priority, tags and title. */
function hashContent({ source, topic, priority, tags, title, body }: InboxOffer): number {
  const text = title.trim() === '' ? body.slice(0, bodyPrefixLength) : title.trim();
  const hash = createHash('sha1').update(JSON.stringify([source, topic, priority, tags, text]));
  return hash.digest().readUIntBE(0, 6);
}

/** Returns the number of repeats of the newest row of a run and its start; undefined without repeats. */
export async function countRepeats(
  db: Kysely<Tables>,
  row: RunRow,
): Promise<{ times: number; since: number } | undefined> {
  const { likeness, since, done } = row;
  if (likeness === null || since === null) return undefined;
  const limited = db
    .selectFrom('items')
    .select('id')
    .where('latest', '=', 0)
    .where('likeness', '=', likeness)
    .where('since', '=', since)
    .where('done', '=', toBit(done))
    .limit(maxCountedRepeats - 1)
    .as('some');
  const { count } = await db
    .selectFrom(limited)
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  const earlier = Number(count);
  return earlier === 0 ? undefined : { times: earlier + 1, since };
}

/** Returns the earlier rows that these rows repeat, for rows that are the latest of their run. */
export async function findEarlierRepeats(db: Kysely<Tables>, ids: readonly number[]): Promise<number[]> {
  const earlier: number[] = [];
  for (let offset = 0; offset < ids.length; offset += runsPerStatement) {
    const rows = await db
      .selectFrom('items as newest')
      .innerJoin('items as earlier', (join) =>
        join
          .on('earlier.latest', '=', 0)
          .onRef('earlier.likeness', '=', 'newest.likeness')
          .onRef('earlier.since', '=', 'newest.since')
          .onRef('earlier.done', '=', 'newest.done'),
      )
      .select('earlier.id')
      .where('newest.id', 'in', ids.slice(offset, offset + runsPerStatement))
      .where('newest.latest', '=', 1)
      .whereRef('earlier.id', '<', 'newest.id')
      .execute();
    for (const { id } of rows) earlier.push(id);
  }
  return earlier;
}

/** Recomputes the latest row of runs after rows were deleted or marked. */
export async function updateLatest(transaction: Kysely<Tables>, changed: readonly RunKey[]): Promise<void> {
  const runs = new Map(changed.map((run) => [`${String(run.likeness)} ${String(run.since)}`, run]));
  for (const { likeness, since } of runs.values()) {
    if (likeness === null || since === null) continue;
    const rows = await transaction
      .selectFrom('items')
      .select(['id', 'latest'])
      .where('latest', 'in', [0, 1])
      .where('likeness', '=', likeness)
      .where('since', '=', since)
      .limit(2)
      .execute();
    if (rows.length === 1 && rows[0]?.latest === 1) continue;
    await transaction
      .updateTable('items')
      .set({ latest: 0 })
      .where('latest', '=', 1)
      .where('likeness', '=', likeness)
      .where('since', '=', since)
      .execute();
    const newest = transaction
      .selectFrom('items')
      .select(({ fn }) => fn.max('id').as('id'))
      .where('latest', '=', 0)
      .where('likeness', '=', likeness)
      .where('since', '=', since)
      .groupBy('done');
    await transaction.updateTable('items').set({ latest: 1 }).where('id', 'in', newest).execute();
  }
}
