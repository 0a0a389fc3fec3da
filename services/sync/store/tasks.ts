import type { Kysely, Selectable } from 'kysely';
import { TaskFields } from '../../contracts/sync/api.ts';
import type { StoredFailure } from '../domain/failure-cause.ts';
import type { Tables } from './tables.ts';

/** Sync task. */
export interface Task {
  readonly id: number;
  readonly account: string;
  readonly fields: TaskFields;
  readonly paused: boolean;
  readonly nextAt: number | null;
  readonly failures: number;
}

/** Sync task with the error of its last run. */
export interface FailedTask extends Task, StoredFailure {}

/** Stores sync tasks. */
export class TaskStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async list(): Promise<readonly Task[]> {
    return (await this.#db.selectFrom('tasks').selectAll().orderBy('id').execute()).map(toTask);
  }

  /** Returns the number of tasks, and those whose last run failed or needs approval. */
  async getSummary(): Promise<{
    readonly all: number;
    readonly failed: readonly FailedTask[];
    readonly heldTasks: readonly Task[];
  }> {
    const rows = await this.#db
      .selectFrom('tasks')
      .selectAll()
      .select((query) => {
        const newest = query
          .selectFrom('runs')
          .whereRef('runs.task_id', '=', 'tasks.id')
          .orderBy('runs.id', 'desc')
          .limit(1);
        return [
          newest.select('runs.state').as('last'),
          newest.select('runs.error').as('error'),
          newest.select('runs.error_code').as('code'),
          newest.select('runs.error_parameters').as('parameters'),
        ];
      })
      .orderBy('id')
      .execute();
    const filterByLastState = (...states: readonly string[]): readonly FailedTask[] =>
      rows
        .filter(({ last }) => last !== null && states.includes(last))
        .map((row) => ({
          ...toTask(row),
          error: row.error ?? '',
          code: row.code ?? '',
          parameters: JSON.parse(row.parameters ?? '{}') as unknown,
        }));
    return {
      all: rows.length,
      failed: filterByLastState('failed', 'interrupted'),
      heldTasks: filterByLastState('held'),
    };
  }

  async find(id: number): Promise<Task | undefined> {
    const row = await this.#db.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst();
    return row === undefined ? undefined : toTask(row);
  }

  async due(now: number): Promise<readonly Task[]> {
    const rows = await this.#db
      .selectFrom('tasks')
      .selectAll()
      .where('paused', '=', 0)
      .where('next_at', '<=', now)
      .orderBy('next_at')
      .execute();
    return rows.map(toTask);
  }

  async insert(transaction: Kysely<Tables>, task: Omit<Task, 'id'>, now: number): Promise<number> {
    const { id } = await transaction
      .insertInto('tasks')
      .values({ account: task.account, ...toColumns(task), created_at: now })
      .returning('id')
      .executeTakeFirstOrThrow();
    return id;
  }

  async change(transaction: Kysely<Tables>, id: number, change: Partial<Omit<Task, 'id' | 'account'>>): Promise<void> {
    await transaction.updateTable('tasks').set(toColumns(change)).where('id', '=', id).execute();
  }

  /** Sets the next run unless it was changed since the task was read. */
  async setNext(transaction: Kysely<Tables>, { id, nextAt }: Task, next: number | null): Promise<void> {
    const query = transaction.updateTable('tasks').set({ next_at: next }).where('id', '=', id);
    await query.where('next_at', nextAt === null ? 'is' : '=', nextAt).execute();
  }

  async remove(transaction: Kysely<Tables>, id: number): Promise<void> {
    await transaction.deleteFrom('plans').where('task_id', '=', id).execute();
    await transaction.deleteFrom('tasks').where('id', '=', id).execute();
  }
}

type Columns = { body: string; paused: 0 | 1; next_at: number | null; failures: number };

function toColumns(task: Omit<Task, 'id' | 'account'>): Columns;
function toColumns(change: Partial<Omit<Task, 'id' | 'account'>>): Partial<Columns>;
function toColumns({ fields, paused, nextAt, failures }: Partial<Omit<Task, 'id' | 'account'>>): Partial<Columns> {
  return {
    ...(fields === undefined ? {} : { body: JSON.stringify(fields) }),
    ...(paused === undefined ? {} : { paused: paused ? 1 : 0 }),
    ...(nextAt === undefined ? {} : { next_at: nextAt }),
    ...(failures === undefined ? {} : { failures }),
  };
}

function toTask(row: Selectable<Tables['tasks']>): Task {
  const { id, account, body, paused, next_at: nextAt, failures } = row;
  return { id, account, fields: TaskFields.parse(JSON.parse(body)), paused: paused === 1, nextAt, failures };
}
