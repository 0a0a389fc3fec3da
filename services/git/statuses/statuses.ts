import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { StatusRow } from '../store/statuses.ts';
import type { Tables } from '../store/tables.ts';

/** How a check of a commit went, by the peer's names. */
export const statusStates = ['pending', 'success', 'error', 'failure', 'warning', 'skipped'] as const;
export type StatusState = (typeof statusStates)[number];

export type NewStatus = Pick<StatusRow, 'account' | 'commit_id' | 'context' | 'description' | 'state' | 'target_url'>;

/** As many of one commit are kept; the oldest go. */
const mostKept = 1000;
/** The gravest first. */
const gravity: readonly StatusState[] = ['error', 'failure', 'warning', 'pending', 'success', 'skipped'];

/** What builds and checks say of commits. */
export class Statuses {
  readonly #context: Pick<Context, 'clock' | 'commit'>;
  readonly #db: Kysely<Tables>;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db'>) {
    this.#context = context;
    this.#db = context.db;
  }

  async add(repository: number, wanted: NewStatus): Promise<StatusRow> {
    const { clock, commit } = this.#context;
    return commit(async (transaction: Kysely<Tables>) => {
      const made = await transaction
        .insertInto('commit_statuses')
        .values({ repository_id: repository, ...wanted, created_at: clock.now() })
        .returningAll()
        .executeTakeFirstOrThrow();
      const oldest = await transaction
        .selectFrom('commit_statuses')
        .select('id')
        .where('repository_id', '=', repository)
        .where('commit_id', '=', wanted.commit_id)
        .orderBy('id', 'desc')
        .offset(mostKept)
        .limit(1)
        .executeTakeFirst();
      if (oldest !== undefined) {
        await transaction
          .deleteFrom('commit_statuses')
          .where('repository_id', '=', repository)
          .where('commit_id', '=', wanted.commit_id)
          .where('id', '<=', oldest.id)
          .execute();
      }
      return made;
    });
  }

  /** All that was said of a commit, the newest first. */
  list(repository: number, commit: string): Promise<StatusRow[]> {
    return this.#db
      .selectFrom('commit_statuses')
      .selectAll()
      .where('repository_id', '=', repository)
      .where('commit_id', '=', commit)
      .orderBy('id', 'desc')
      .execute();
  }

  /** The last word of each check. */
  async latest(repository: number, commit: string): Promise<readonly StatusRow[]> {
    return lastWords(await this.list(repository, commit));
  }

  /** The last word of each check of several commits; nothing of those that have none. */
  async latestOf(repository: number, commits: readonly string[]): Promise<ReadonlyMap<string, readonly StatusRow[]>> {
    if (commits.length === 0) return new Map();
    const rows = await this.#db
      .selectFrom('commit_statuses')
      .selectAll()
      .where('repository_id', '=', repository)
      .where('commit_id', 'in', commits)
      .orderBy('id', 'desc')
      .execute();
    return new Map([...Map.groupBy(rows, (row) => row.commit_id)].map(([commit, some]) => [commit, lastWords(some)]));
  }
}

/** Of rows the newest first. */
function lastWords(rows: readonly StatusRow[]): readonly StatusRow[] {
  const byContext = new Map<string, StatusRow>();
  for (const row of rows) if (!byContext.has(row.context)) byContext.set(row.context, row);
  return [...byContext.values()];
}

/** What several checks come to together; undefined where there are none. */
export function combined(some: readonly Pick<StatusRow, 'state'>[]): StatusState | undefined {
  return gravity.find((state) => some.some((each) => each.state === state));
}
