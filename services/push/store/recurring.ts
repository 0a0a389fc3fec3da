import type { Generated, Kysely } from 'kysely';

interface Columns {
  id: string;
  account: string;
  topic: string;
  content: string;
  rule: string;
  zone: string;
  starts: number | null;
  ends: number | null;
  missed: string;
  enabled: number;
  next: number | null;
  last: number | null;
  error: string;
}

interface Tables {
  recurring: Columns & { seq: Generated<number> };
}

/** Recurring message. Times are unix seconds. */
export interface RecurringRow extends Readonly<Columns> {
  readonly seq: number;
}

/** Advance of a schedule from one run to the next. */
export interface ScheduleStep {
  readonly id: string;
  /** Run that this step replaces. The step is skipped when the stored run differs. */
  readonly from: number;
  readonly next: number | null;
  readonly last: number;
  readonly error: string;
}

/** Schedules of recurring messages. */
export class RecurringStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async insert(transaction: Kysely<Tables>, row: Readonly<Columns>): Promise<void> {
    await transaction.insertInto('recurring').values(row).execute();
  }

  /** Returns false when the schedule does not exist. */
  async change(
    transaction: Kysely<Tables>,
    id: string,
    change: Partial<Omit<Columns, 'id' | 'account'>>,
  ): Promise<boolean> {
    const result = await transaction.updateTable('recurring').set(change).where('id', '=', id).executeTakeFirst();
    return result.numUpdatedRows > 0n;
  }

  async remove(transaction: Kysely<Tables>, id: string): Promise<boolean> {
    const result = await transaction.deleteFrom('recurring').where('id', '=', id).executeTakeFirst();
    return result.numDeletedRows > 0n;
  }

  /** Deletes all schedules of an account. */
  async removeAccount(transaction: Kysely<Tables>, account: string): Promise<void> {
    await transaction.deleteFrom('recurring').where('account', '=', account).execute();
  }

  async removeAll(transaction: Kysely<Tables>): Promise<void> {
    await transaction.deleteFrom('recurring').execute();
  }

  async find(id: string): Promise<RecurringRow | undefined> {
    return this.#db.selectFrom('recurring').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** Returns schedules newest first, of one account or of all. */
  async list(account: string | undefined, before: number | undefined, limit: number): Promise<readonly RecurringRow[]> {
    return this.#db
      .selectFrom('recurring')
      .selectAll()
      .$if(account !== undefined, (query) => query.where('account', '=', account ?? ''))
      .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
      .orderBy('seq', 'desc')
      .limit(limit)
      .execute();
  }

  async count(account?: string): Promise<number> {
    const row = await this.#db
      .selectFrom('recurring')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .$if(account !== undefined, (query) => query.where('account', '=', account ?? ''))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }

  /** Returns the time of the next run in unix seconds. */
  async nextTime(): Promise<number | undefined> {
    const row = await this.#db
      .selectFrom('recurring')
      .select('next')
      .where('next', 'is not', null)
      .orderBy('next')
      .limit(1)
      .executeTakeFirst();
    return row?.next ?? undefined;
  }

  /** Returns schedules with a due run, oldest first. */
  async due(now: number, limit: number): Promise<readonly RecurringRow[]> {
    return this.#db.selectFrom('recurring').selectAll().where('next', '<=', now).orderBy('next').limit(limit).execute();
  }

  /** Returns schedules whose last run is in the future, after the clock was set back. */
  async withFutureRun(now: number, limit: number): Promise<readonly RecurringRow[]> {
    return this.#db.selectFrom('recurring').selectAll().where('last', '>', now).orderBy('last').limit(limit).execute();
  }

  /** Advances schedules and returns the ids of those that were not changed or disabled in the meantime. */
  async advance(transaction: Kysely<Tables>, steps: readonly ScheduleStep[]): Promise<ReadonlySet<string>> {
    const moved = new Set<string>();
    for (const { id, from, next, last, error } of steps) {
      const result = await transaction
        .updateTable('recurring')
        .set({ next, last, error })
        .where('id', '=', id)
        .where('next', '=', from)
        .executeTakeFirst();
      if (result.numUpdatedRows > 0n) moved.add(id);
    }
    return moved;
  }
}
