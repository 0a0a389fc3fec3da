import { createHash } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import type { InboxOffer } from '../../contracts/inbox/api.ts';
import type { Migration } from '../../contracts/service.ts';
import { executeCached } from '../../kit/cached-statement.ts';
import { bit, type Tables } from './tables.ts';

/** A repeat comes so long after the one before it at most, and belongs to a run that began a day ago at most; ms. */
const longestPause = 6 * 3_600_000;
const longestRun = 24 * 3_600_000;
/** Characters that stand for a message without a title. */
const bodyStart = 200;
/** Repeats are counted so far. */
const mostCounted = 1000;
/** Runs that one statement reads: each may be long. */
const runsAtOnce = 100;

/**
 * Messages that come again and again are a run: alike, and begun at one moment. `latest` is 1 for the newest row of a run
 * (for one that was put away, of those put away), and for every row that has none. So a list of the newest ones alone is
 * a walk along an index, however many repeats there are. `change` and `was` tell what the last change of a row found.
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

/** Alike rows that came after each other. */
export interface RunOf {
  readonly likeness: number | null;
  readonly since: number | null;
}

/** A row of one, of which those that are put away are a run of their own. */
export interface InRun extends RunOf {
  readonly done: boolean;
}

/** A new row's place among those that are alike. */
interface Placement {
  readonly likeness: number;
  readonly since: number;
  readonly latest: 0 | 1;
}

/** Where new rows go, in their order, and what each repeats: a row that is there, or one of the new ones by its index. */
interface Placements {
  readonly rows: readonly Placement[];
  readonly repeated: readonly ({ readonly id: number } | { readonly index: number } | undefined)[];
}

interface Newest {
  readonly since: number;
  readonly time: number;
  readonly at: { readonly id: number } | { readonly index: number };
}

/** Says of rows that are about to be added, oldest first, which of them repeat one; what they repeat is not the latest any more. */
export async function placeRepeats(transaction: Kysely<Tables>, offers: readonly InboxOffer[]): Promise<Placements> {
  const likenesses = offers.map(likenessOf);
  const newest = await newestOf(transaction, likenesses, Math.min(...offers.map(({ time }) => time)) - longestRun);
  const rows: Placement[] = [];
  const repeated: Placements['repeated'][number][] = [];
  const overtaken: number[] = [];
  for (const [index, { time }] of offers.entries()) {
    const likeness = likenesses[index] ?? 0;
    const before = newest.get(likeness);
    const goesOn =
      before !== undefined && Math.abs(time - before.time) <= longestPause && time - before.since <= longestRun;
    const since = goesOn ? before.since : time;
    repeated.push(goesOn ? before.at : undefined);
    if (goesOn && 'id' in before.at) overtaken.push(before.at.id);
    if (goesOn && 'index' in before.at) {
      const { index: earlier } = before.at;
      rows[earlier] = { ...(rows[earlier] ?? { likeness, since }), latest: 0 };
    }
    rows.push({ likeness, since, latest: 1 });
    newest.set(likeness, { since, time, at: { index } });
  }
  if (overtaken.length > 0) {
    await transaction.updateTable('items').set({ latest: 0 }).where('id', 'in', overtaken).execute();
  }
  return { rows, repeated };
}

/** Open rows alone: what was put away has an end. */
async function newestOf(
  transaction: Kysely<Tables>,
  likenesses: readonly number[],
  from: number,
): Promise<Map<number, Newest>> {
  const build = () =>
    transaction
      .selectFrom('items')
      .select(['id', 'likeness', 'since', 'time'])
      .where('latest', '=', 1)
      .where('likeness', 'in', likenesses)
      .where('since', '>=', from)
      // The sign keeps SQLite from walking through all open rows by `items_latest`, which it prefers for many likenesses.
      .where(sql<number>`+done`, '=', 0)
      .orderBy('id')
      .compile();
  const shape = `inbox.repeats ${String(likenesses.length)}`;
  const { rows } = await executeCached(transaction, shape, [1, ...likenesses, from, 0], build);
  return new Map(
    rows.flatMap(({ id, likeness, since, time }) =>
      likeness === null || since === null ? [] : [[likeness, { since, time, at: { id } }] as const],
    ),
  );
}

/** The same for messages that say the same: where they came from, how urgent they are, their tags and title. */
function likenessOf({ source, topic, priority, tags, title, body }: InboxOffer): number {
  const text = title.trim() === '' ? body.slice(0, bodyStart) : title.trim();
  const hash = createHash('sha1').update(JSON.stringify([source, topic, priority, tags, text]));
  return hash.digest().readUIntBE(0, 6);
}

/** How often the newest of a run came, and since when; undefined for one that came once. */
export async function timesOf(db: Kysely<Tables>, row: InRun): Promise<{ times: number; since: number } | undefined> {
  const { likeness, since, done } = row;
  if (likeness === null || since === null) return undefined;
  const some = db
    .selectFrom('items')
    .select('id')
    .where('latest', '=', 0)
    .where('likeness', '=', likeness)
    .where('since', '=', since)
    .where('done', '=', bit(done))
    .limit(mostCounted - 1)
    .as('some');
  const { count } = await db
    .selectFrom(some)
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  const earlier = Number(count);
  return earlier === 0 ? undefined : { times: earlier + 1, since };
}

/** The rows that some rows are repeats of, as far as these are the latest: one from the middle of a run stands for itself. */
export async function earlierOf(db: Kysely<Tables>, ids: readonly number[]): Promise<number[]> {
  const earlier: number[] = [];
  for (let at = 0; at < ids.length; at += runsAtOnce) {
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
      .where('newest.id', 'in', ids.slice(at, at + runsAtOnce))
      .where('newest.latest', '=', 1)
      .whereRef('earlier.id', '<', 'newest.id')
      .execute();
    for (const { id } of rows) earlier.push(id);
  }
  return earlier;
}

/** After some rows of these runs went, or were put away or back: says anew which is the latest of each. */
export async function settleRuns(transaction: Kysely<Tables>, changed: readonly RunOf[]): Promise<void> {
  const runs = new Map(changed.map((run) => [`${String(run.likeness)} ${String(run.since)}`, run]));
  for (const { likeness, since } of runs.values()) {
    if (likeness === null || since === null) continue;
    const both = await transaction
      .selectFrom('items')
      .select(['id', 'latest'])
      .where('latest', 'in', [0, 1])
      .where('likeness', '=', likeness)
      .where('since', '=', since)
      .limit(2)
      .execute();
    if (both.length === 1 && both[0]?.latest === 1) continue;
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
