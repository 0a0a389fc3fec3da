import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { TrackedTimeRow } from '../store/issue-relations.ts';
import type { Tables } from '../store/tables.ts';

/** Filters of tracked times. Omitted filters match everything. */
export interface TimeQuery {
  readonly issue?: number | undefined;
  readonly repository?: number | undefined;
  readonly account?: string | undefined;
  readonly since?: number | undefined;
  readonly before?: number | undefined;
}

/** Tracked times of issues, and the running stopwatch of each account. */
export class TrackedTimes {
  readonly #context: Pick<Context, 'clock' | 'commit'>;
  readonly #db: Kysely<Tables>;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db'>) {
    this.#context = context;
    this.#db = context.db;
  }

  /** Lists tracked times, oldest first. */
  list({ issue, repository, account, since, before }: TimeQuery): Promise<TrackedTimeRow[]> {
    let rows = this.#db.selectFrom('tracked_times').selectAll('tracked_times');
    if (issue !== undefined) rows = rows.where('issue_id', '=', issue);
    if (repository !== undefined) {
      const issues = this.#db.selectFrom('issues').select('id').where('repository_id', '=', repository);
      rows = rows.where('issue_id', 'in', issues);
    }
    if (account !== undefined) rows = rows.where('account', '=', account);
    if (since !== undefined) rows = rows.where('created_at', '>=', since);
    if (before !== undefined) rows = rows.where('created_at', '<=', before);
    return rows.orderBy('created_at').orderBy('id').execute();
  }

  add(issue: number, account: string, seconds: number, createdAt = this.#context.clock.now()): Promise<TrackedTimeRow> {
    return this.#context.commit((transaction: Kysely<Tables>) =>
      recordTime(transaction, { issue, account, seconds, createdAt }),
    );
  }

  /** Removes the tracked times of an account for an issue. Returns false if there were none. */
  async removeForAccount(issue: number, account: string): Promise<boolean> {
    const { numDeletedRows } = await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .deleteFrom('tracked_times')
        .where('issue_id', '=', issue)
        .where('account', '=', account)
        .executeTakeFirstOrThrow(),
    );
    return numDeletedRows > 0n;
  }

  async remove(id: number): Promise<void> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.deleteFrom('tracked_times').where('id', '=', id).execute(),
    );
  }

  findStopwatch(account: string) {
    return this.#db.selectFrom('stopwatches').selectAll().where('account', '=', account).executeTakeFirst();
  }

  /**
   * Starts the stopwatch. A stopwatch of another issue is stopped and its time recorded. Returns false if it is already
   * running for this issue.
   */
  start(issue: number, account: string): Promise<boolean> {
    return this.#context.commit(async (transaction: Kysely<Tables>) => {
      const now = this.#context.clock.now();
      const previous = await deleteStopwatch(transaction, account);
      await transaction
        .insertInto('stopwatches')
        .values({ account, issue_id: issue, begun_at: previous?.issue_id === issue ? previous.begun_at : now })
        .execute();
      if (previous?.issue_id === issue) return false;
      if (previous !== undefined) await recordTime(transaction, toTrackedTime(previous, now));
      return true;
    });
  }

  /** Stops the stopwatch and optionally records its time. Returns false if none is running for the issue. */
  stop(issue: number, account: string, { record: isRecorded }: { readonly record: boolean }): Promise<boolean> {
    return this.#context.commit(async (transaction: Kysely<Tables>) => {
      const stopwatch = await deleteStopwatch(transaction, account, issue);
      if (stopwatch === undefined) return false;
      if (isRecorded) await recordTime(transaction, toTrackedTime(stopwatch, this.#context.clock.now()));
      return true;
    });
  }
}

interface Stopwatch {
  readonly account: string;
  readonly issue_id: number;
  readonly begun_at: number;
}

function toTrackedTime({ account, begun_at, issue_id: issue }: Stopwatch, now: number) {
  return { issue, account, seconds: Math.max(1, Math.round((now - begun_at) / 1000)), createdAt: now };
}

async function deleteStopwatch(
  transaction: Kysely<Tables>,
  account: string,
  issue?: number,
): Promise<Stopwatch | undefined> {
  const rows = transaction.deleteFrom('stopwatches').where('account', '=', account);
  return (issue === undefined ? rows : rows.where('issue_id', '=', issue)).returningAll().executeTakeFirst();
}

function recordTime(
  transaction: Kysely<Tables>,
  {
    issue,
    account,
    seconds,
    createdAt,
  }: { readonly issue: number; readonly account: string; readonly seconds: number; readonly createdAt: number },
): Promise<TrackedTimeRow> {
  return transaction
    .insertInto('tracked_times')
    .values({ issue_id: issue, account, seconds, created_at: createdAt })
    .returningAll()
    .executeTakeFirstOrThrow();
}
