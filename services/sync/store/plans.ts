import type { Kysely } from 'kysely';
import type { SyncPlan, TaskFields } from '../../contracts/sync/api.ts';
import type { ApprovalReason } from '../domain/delete-limits.ts';
import type { Plan, PlannedFile } from '../domain/plan.ts';
import { keepsReplacedPattern } from './jobs.ts';
import type { Tables } from './tables.ts';

const maxPlansPerTask = 10;

/** Stored preview. */
export interface StoredPlan {
  readonly summary: Omit<SyncPlan, 'brakes'>;
  readonly approvalReasons: readonly ApprovalReason[];
  readonly fingerprint: string;
  readonly plan: Plan;
}

/** JSON of the column `summary`. */
type StoredSummary = Omit<SyncPlan, 'brakes' | 'id' | 'taskId' | 'createdAt'> & Pick<StoredPlan, 'approvalReasons'>;

/** Stores previews. */
export class PlanStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Inserts a preview, deletes the oldest ones of the task, and returns its ID. */
  async insert(
    transaction: Kysely<Tables>,
    {
      taskId,
      plan,
      approvalReasons,
      fingerprint,
      now,
    }: { taskId: number; plan: Plan; approvalReasons: readonly ApprovalReason[]; fingerprint: string; now: number },
  ): Promise<number> {
    const summary = {
      creates: countFiles(plan.creates),
      updates: countFiles(plan.updates),
      deletes: countFiles(plan.deletes),
      sourceFiles: plan.sourceFiles,
      destinationFiles: plan.destinationFiles,
      approvalReasons,
    };
    const { id } = await transaction
      .insertInto('plans')
      .values({
        task_id: taskId,
        created_at: now,
        fingerprint,
        summary: JSON.stringify(summary),
        body: JSON.stringify(plan),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const oldest = await transaction
      .selectFrom('plans')
      .select('id')
      .where('task_id', '=', taskId)
      .orderBy('id', 'desc')
      .offset(maxPlansPerTask)
      .limit(1)
      .executeTakeFirst();
    if (oldest !== undefined) {
      // A run that can be undone needs its plan.
      const needed = transaction
        .selectFrom('runs')
        .select('plan_id')
        .where('task_id', '=', taskId)
        .where('plan_id', 'is not', null)
        .where('input', 'like', keepsReplacedPattern);
      await transaction
        .deleteFrom('plans')
        .where('task_id', '=', taskId)
        .where('id', '<=', oldest.id)
        .where('id', 'not in', needed)
        .execute();
    }
    return id;
  }

  async find(id: number): Promise<StoredPlan | undefined> {
    const row = await this.#db.selectFrom('plans').selectAll().where('id', '=', id).executeTakeFirst();
    if (row === undefined) return undefined;
    const { approvalReasons, ...summary } = JSON.parse(row.summary) as StoredSummary;
    return {
      approvalReasons,
      summary: { ...summary, id: row.id, taskId: row.task_id, createdAt: row.created_at },
      fingerprint: row.fingerprint,
      plan: JSON.parse(row.body) as Plan,
    };
  }
}

/** Returns a fingerprint of the settings that a preview depends on. */
export function getFingerprint({ source, destination, exclude, mode }: TaskFields): string {
  return JSON.stringify([mode, source, destination, exclude]);
}

function countFiles(files: readonly PlannedFile[]): { files: number; bytes: number } {
  return { files: files.length, bytes: files.reduce((sum, { size }) => sum + Math.max(0, size), 0) };
}
