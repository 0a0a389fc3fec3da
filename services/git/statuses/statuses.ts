import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { StatusRow } from '../store/statuses.ts';
import type { Tables } from '../store/tables.ts';

/** States of a commit status, with Gitea's names. */
export const statusStates = ['pending', 'success', 'error', 'failure', 'warning', 'skipped'] as const;
export type StatusState = (typeof statusStates)[number];

export type NewStatus = Pick<StatusRow, 'account' | 'commit_id' | 'context' | 'description' | 'state' | 'target_url'>;

/** Maximum number of stored statuses of a commit. The oldest are deleted. */
const maxStatuses = 1000;
/** States by severity, most severe first. */
const severityOrder: readonly StatusState[] = ['error', 'failure', 'warning', 'pending', 'success', 'skipped'];

/** Commit statuses that builds and checks report. */
export class Statuses {
  readonly #context: Pick<Context, 'clock' | 'commit'>;
  readonly #db: Kysely<Tables>;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db'>) {
    this.#context = context;
    this.#db = context.db;
  }

  async add(repository: number, status: NewStatus): Promise<StatusRow> {
    const { clock, commit } = this.#context;
    return commit(async (transaction: Kysely<Tables>) => {
      const row = await transaction
        .insertInto('commit_statuses')
        .values({ repository_id: repository, ...status, created_at: clock.now() })
        .returningAll()
        .executeTakeFirstOrThrow();
      const oldest = await transaction
        .selectFrom('commit_statuses')
        .select('id')
        .where('repository_id', '=', repository)
        .where('commit_id', '=', status.commit_id)
        .orderBy('id', 'desc')
        .offset(maxStatuses)
        .limit(1)
        .executeTakeFirst();
      if (oldest !== undefined) {
        await transaction
          .deleteFrom('commit_statuses')
          .where('repository_id', '=', repository)
          .where('commit_id', '=', status.commit_id)
          .where('id', '<=', oldest.id)
          .execute();
      }
      return row;
    });
  }

  /** Lists all statuses of a commit, newest first. */
  list(repository: number, commit: string): Promise<StatusRow[]> {
    return this.#db
      .selectFrom('commit_statuses')
      .selectAll()
      .where('repository_id', '=', repository)
      .where('commit_id', '=', commit)
      .orderBy('id', 'desc')
      .execute();
  }

  /** Returns the latest status of each context. */
  async latest(repository: number, commit: string): Promise<readonly StatusRow[]> {
    return selectLatest(await this.list(repository, commit));
  }

  /** Returns the latest statuses of several commits. Commits without statuses are omitted. */
  async latestForCommits(
    repository: number,
    commits: readonly string[],
  ): Promise<ReadonlyMap<string, readonly StatusRow[]>> {
    if (commits.length === 0) return new Map();
    const rows = await this.#db
      .selectFrom('commit_statuses')
      .selectAll()
      .where('repository_id', '=', repository)
      .where('commit_id', 'in', commits)
      .orderBy('id', 'desc')
      .execute();
    return new Map(
      [...Map.groupBy(rows, (row) => row.commit_id)].map(([commit, statuses]) => [commit, selectLatest(statuses)]),
    );
  }
}

/** Keeps the first row of each context. Rows must be ordered newest first. */
function selectLatest(rows: readonly StatusRow[]): readonly StatusRow[] {
  const byContext = new Map<string, StatusRow>();
  for (const row of rows) if (!byContext.has(row.context)) byContext.set(row.context, row);
  return [...byContext.values()];
}

/** Combines several statuses into one state. Returns undefined for none. */
export function combineStates(statuses: readonly Pick<StatusRow, 'state'>[]): StatusState | undefined {
  return severityOrder.find((state) => statuses.some((each) => each.state === state));
}
