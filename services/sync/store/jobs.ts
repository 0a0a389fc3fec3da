import { sql, type ExpressionBuilder, type Insertable, type Kysely, type Selectable } from 'kysely';
import { running, type JobState } from '../../contracts/sync/api.ts';
import { failures } from '../domain/failures.ts';
import type { StoredFailure } from '../domain/failure-cause.ts';
import type { Tables } from './tables.ts';
import { buildContainsPattern } from '../../kit/like-pattern.ts';

export type JobRow = Selectable<Tables['runs']>;
export type FileRow = Selectable<Tables['run_files']>;

/** Returns the failure that a row contains. */
export function toStoredFailure(
  row: Pick<JobRow | FileRow, 'error' | 'error_code' | 'error_parameters'>,
): StoredFailure {
  return { error: row.error, code: row.error_code, parameters: JSON.parse(row.error_parameters) as unknown };
}

/** Condition of the unique index of running tasks. It has no parameters, so that the database recognizes it. */
export const runningTask = sql<boolean>`task_id is not null and state in (${sql.join(running.map((state) => sql.lit(state)))})`;

type Expressions = ExpressionBuilder<Tables, 'runs'>;

/** LIKE pattern for the JSON in `input` of runs that keep replaced files. */
export const keepsReplacedPattern = '%"keepReplaced":true%';

/** Stores the history of jobs. */
export class JobStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Stores a job. Returns false when a host already runs a job of the same task, and stores nothing. */
  async insert(transaction: Kysely<Tables>, job: Insertable<Tables['runs']>): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await transaction
      .insertInto('runs')
      .values(job)
      .onConflict((conflict) => conflict.column('task_id').where(runningTask).doNothing())
      .executeTakeFirst();
    return numInsertedOrUpdatedRows !== 0n;
  }

  /** Marks jobs of a task as interrupted that a host does not run any more, because their end could not be stored. */
  async interruptLeftovers(
    transaction: Kysely<Tables>,
    { task, host, now }: { readonly task: number; readonly host: string; readonly now: number },
    runningIds: readonly number[],
  ): Promise<void> {
    const { error, code } = failures.interrupted.create({});
    await transaction
      .updateTable('runs')
      .set({ state: 'interrupted', ended_at: now, error, error_code: code })
      .where('task_id', '=', task)
      .where('host', '=', host)
      .where('state', 'in', running)
      .$if(runningIds.length > 0, (query) => query.where('id', 'not in', runningIds))
      .execute();
  }

  async begin(transaction: Kysely<Tables>, id: number): Promise<void> {
    await transaction.updateTable('runs').set({ state: 'running' }).where('id', '=', id).execute();
  }

  /** Stores the end of a job. Returns false when another host has interrupted it, and stores nothing. */
  async end(
    transaction: Kysely<Tables>,
    id: number,
    end: Pick<
      JobRow,
      'state' | 'ended_at' | 'error' | 'error_code' | 'error_parameters' | 'output' | 'stats' | 'speeds' | 'plan_id'
    >,
    files: readonly FileRow[],
  ): Promise<boolean> {
    const query = transaction.updateTable('runs').set(end).where('id', '=', id).where('state', 'in', running);
    const { numUpdatedRows } = await query.executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    for (let index = 0; index < files.length; index += 100) {
      await transaction
        .insertInto('run_files')
        .values(files.slice(index, index + 100))
        .execute();
    }
    return true;
  }

  /** Lists the hosts of running jobs; null for jobs of earlier versions. */
  async listRunningHosts(): Promise<readonly (string | null)[]> {
    const rows = await this.#db.selectFrom('runs').select('host').distinct().where('state', 'in', running).execute();
    return rows.map(({ host }) => host);
  }

  /** Marks running jobs of hosts that have ended as interrupted, and returns them. */
  async interrupt(
    transaction: Kysely<Tables>,
    now: number,
    isEnded: (row: Pick<JobRow, 'host' | 'id' | 'started_at'>) => boolean,
  ): Promise<readonly JobRow[]> {
    const rows = await transaction.selectFrom('runs').selectAll().where('state', 'in', running).execute();
    const interruptedRows = rows.filter(isEnded);
    if (interruptedRows.length === 0) return [];
    const { error, code } = failures.interrupted.create({});
    const ids = interruptedRows.map(({ id }) => id);
    await transaction
      .updateTable('runs')
      .set({ state: 'interrupted', ended_at: now, error, error_code: code })
      .where('id', 'in', ids)
      .where('state', 'in', running)
      .execute();
    return interruptedRows;
  }

  /** Returns those of the jobs that still run, which is not the case after another host has interrupted them. */
  async listRunning(ids: readonly number[]): Promise<ReadonlySet<number>> {
    if (ids.length === 0) return new Set();
    const query = this.#db.selectFrom('runs').select('id').where('id', 'in', ids).where('state', 'in', running);
    return new Set((await query.execute()).map(({ id }) => id));
  }

  /** Returns whether a host other than `host` runs a job of a task. */
  async isRunningElsewhere(task: number, host: string): Promise<boolean> {
    const query = this.#db
      .selectFrom('runs')
      .select('id')
      .where('task_id', '=', task)
      .where('state', 'in', running)
      .where((is) => is.or([is('host', 'is', null), is('host', '!=', host)]));
    return (await query.limit(1).executeTakeFirst()) !== undefined;
  }

  find(id: number): Promise<JobRow | undefined> {
    return this.#db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst();
  }

  list(filter: {
    readonly account?: string | undefined;
    readonly task?: number | undefined;
    /** Filters by result: without errors, or in one of these states or with errors. */
    readonly ended?: { readonly well: true } | { readonly in: readonly JobState[] } | undefined;
    /** Part of the name of a file that failed or was planned. */
    readonly file?: string | undefined;
    readonly before?: number | undefined;
    readonly limit: number;
  }): Promise<readonly JobRow[]> {
    const { account, task, ended, before, limit } = filter;
    const file = filter.file?.trim().toLowerCase() ?? '';
    const hasErrors = (is: Expressions) =>
      is.exists(is.selectFrom('run_files').select('seq').whereRef('run_files.job_id', '=', 'runs.id'));
    const matchesFile = (is: Expressions) =>
      is.or([
        is.exists(
          is
            .selectFrom('run_files')
            .select('seq')
            .whereRef('run_files.job_id', '=', 'runs.id')
            .where(sql<boolean>`lower(${sql.ref('run_files.name')}) like ${buildContainsPattern(file)} escape '\\'`),
        ),
        // Paths in a plan are JSON strings, so the search text is escaped as JSON.
        is.exists(
          is
            .selectFrom('plans')
            .select('plans.id')
            .whereRef('plans.id', '=', 'runs.plan_id')
            .where(
              sql<boolean>`lower(${sql.ref('plans.body')}) like ${buildContainsPattern(JSON.stringify(file).slice(1, -1))} escape '\\'`,
            ),
        ),
      ]);
    return this.#db
      .selectFrom('runs')
      .selectAll()
      .$if(account !== undefined, (query) => query.where('account', '=', account ?? ''))
      .$if(task !== undefined, (query) => query.where('task_id', '=', task ?? 0))
      .$if(ended !== undefined && 'well' in ended, (query) =>
        query.where((is) => is.and([is('state', '=', 'done'), is.not(hasErrors(is))])),
      )
      .$if(ended !== undefined && 'in' in ended, (query) =>
        query.where((is) =>
          is.or([is('state', 'in', ended !== undefined && 'in' in ended ? ended.in : []), hasErrors(is)]),
        ),
      )
      .$if(file !== '', (query) => query.where(matchesFile))
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
  }

  listGroup(group: string, limit: number): Promise<readonly JobRow[]> {
    return this.#db
      .selectFrom('runs')
      .selectAll()
      .where('group_name', '=', group)
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
  }

  /** Returns runs and deletions of the file manager after an ID that ended before a time and still have replaced files. */
  listWithReplacedFiles(before: number, after: number, limit: number): Promise<readonly JobRow[]> {
    return this.#db
      .selectFrom('runs')
      .selectAll()
      .where('kind', 'in', ['run', 'files/delete'])
      .where('ended_at', '<', before)
      .where('id', '>', after)
      .where('input', 'like', keepsReplacedPattern)
      .orderBy('id')
      .limit(limit)
      .execute();
  }

  async setInput(transaction: Kysely<Tables>, id: number, input: object): Promise<void> {
    await transaction
      .updateTable('runs')
      .set({ input: JSON.stringify(input) })
      .where('id', '=', id)
      .execute();
  }

  /** Returns the first failed file of each job, for jobs that have one. */
  async firstFiles(jobs: readonly number[]): Promise<ReadonlyMap<number, FileRow>> {
    if (jobs.length === 0) return new Map();
    const rows = await this.#db
      .selectFrom('run_files')
      .selectAll()
      .where('job_id', 'in', jobs)
      .where((is) =>
        is(
          'seq',
          '=',
          is
            .selectFrom('run_files as others')
            .select((all) => all.fn.min('others.seq').as('first'))
            .whereRef('others.job_id', '=', 'run_files.job_id'),
        ),
      )
      .execute();
    return new Map(rows.map((row) => [row.job_id, row]));
  }

  files(job: number, limit: number): Promise<readonly FileRow[]> {
    return this.#db.selectFrom('run_files').selectAll().where('job_id', '=', job).orderBy('seq').limit(limit).execute();
  }

  /** Deletes jobs that ended before a time, except runs with replaced files, whose location they store. */
  async deleteOld(transaction: Kysely<Tables>, before: number): Promise<void> {
    const expired = transaction
      .selectFrom('runs')
      .select('id')
      .where('ended_at', '<', before)
      .where('input', 'not like', keepsReplacedPattern);
    await transaction.deleteFrom('run_files').where('job_id', 'in', expired).execute();
    await transaction.deleteFrom('runs').where('id', 'in', expired).execute();
  }
}
