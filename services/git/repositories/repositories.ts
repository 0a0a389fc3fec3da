import * as m from '#messages/git-problems';
import type { Kysely, SelectQueryBuilder } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import { countColumns } from '../store/counts.ts';
import type { OwnerRow, RepositoryRow, Tables } from '../store/tables.ts';
import { applyFilters, getSortColumn, type RepositoryQuery } from './repository-query.ts';

/** Repository row with owner and counts. */
export interface Repository {
  readonly id: number;
  readonly owner: string;
  readonly ownerId: number;
  readonly ownerKind: OwnerRow['kind'];
  readonly ownerVisibility: OwnerRow['visibility'];
  readonly name: string;
  /** Folder name on disk. */
  readonly folder: string;
  readonly description: string;
  readonly website: string;
  readonly originalUrl: string;
  readonly topics: readonly string[];
  /** Further repository settings of Gitea clients. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly private: boolean;
  readonly archived: boolean;
  readonly template: boolean;
  readonly empty: boolean;
  readonly defaultBranch: string;
  readonly branchCount: number;
  /** KiB. */
  readonly size: number;
  /** ms since the epoch, as are the following fields. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly pushedAt: number | null;
  readonly counts: {
    readonly stars: number;
    readonly forks: number;
    readonly releases: number;
    readonly issues: number;
    readonly pulls: number;
  };
  /** ID of the repository that it was forked from. */
  readonly parentId: number | null;
}

type JoinedRow = RepositoryRow & {
  readonly owner_name: string;
  readonly owner_kind: OwnerRow['kind'];
  readonly owner_visibility: OwnerRow['visibility'];
  readonly open_issues: number;
  readonly open_pulls: number;
  readonly star_count: number;
  readonly fork_count: number;
  readonly release_count: number;
  readonly parent_id: number | null;
};

/** Rows of repositories and their owners. */
export class Repositories {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Finds a repository by owner and name, ignoring case. */
  async find(owner: string, name: string): Promise<Repository | undefined> {
    const row = await selectJoined(this.#db)
      .where('owners.lower_name', '=', owner.toLowerCase())
      .where('repositories.lower_name', '=', name.toLowerCase())
      .executeTakeFirst();
    return row && toRepository(row);
  }

  async findById(id: number): Promise<Repository | undefined> {
    const row = await selectJoined(this.#db).where('repositories.id', '=', id).executeTakeFirst();
    return row && toRepository(row);
  }

  /** Finds a repository by a former name. */
  async findRenamed(owner: string, name: string): Promise<Repository | undefined> {
    const former = await this.#db
      .selectFrom('former_names')
      .innerJoin('owners', 'owners.id', 'former_names.owner_id')
      .select('former_names.repository_id as id')
      .where('owners.lower_name', '=', owner.toLowerCase())
      .where('former_names.lower_name', '=', name.toLowerCase())
      .executeTakeFirst();
    return former && this.findById(former.id);
  }

  async list(
    query: RepositoryQuery,
  ): Promise<{ readonly repositories: readonly Repository[]; readonly total: number }> {
    const [rows, total] = await Promise.all([
      applyFilters(selectJoined(this.#db), query)
        .orderBy(getSortColumn(query.sort), query.descending === true ? 'desc' : 'asc')
        .orderBy('repositories.id')
        .limit(query.limit)
        .offset(query.offset)
        .execute(),
      applyFilters(selectJoined(this.#db), query)
        .clearSelect()
        .select((is) => is.fn.countAll<number>().as('total'))
        .executeTakeFirst(),
    ]);
    return { repositories: rows.map(toRepository), total: total?.total ?? 0 };
  }

  /** Builds a subquery for the IDs of the matching repositories. */
  selectIds(query: Omit<RepositoryQuery, 'limit' | 'offset'>) {
    return applyFilters(selectJoined(this.#db), query).clearSelect().select('repositories.id');
  }

  async count(): Promise<number> {
    const row = await this.#db
      .selectFrom('repositories')
      .select((is) => is.fn.countAll<number>().as('count'))
      .executeTakeFirst();
    return row?.count ?? 0;
  }

  /** Lists the IDs of the owners that an account administers: its own row and its organizations. */
  async listOwnerIds(account: string): Promise<readonly number[]> {
    const rows = await this.#db
      .selectFrom('owners')
      .select('id')
      .where((is) => is.and([is('kind', '=', 'account'), is('name', '=', account)]))
      .union(this.#db.selectFrom('organization_members').select('owner_id as id').where('account', '=', account))
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Lists the IDs of the repositories that an account is a collaborator of. */
  async listSharedIds(account: string): Promise<readonly number[]> {
    const rows = await this.#db
      .selectFrom('collaborators')
      .select('repository_id')
      .where('account', '=', account)
      .execute();
    return rows.map(({ repository_id }) => repository_id);
  }

  /** Counts public repositories by topic. */
  async countTopics(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#db
      .selectFrom('repositories')
      .innerJoin('owners', 'owners.id', 'repositories.owner_id')
      .select('topics')
      .where('private', '=', 0)
      .where('owners.visibility', '=', 'public')
      .where('topics', '!=', '[]')
      .execute();
    const counts = new Map<string, number>();
    for (const topic of rows.flatMap(({ topics }) => JSON.parse(topics) as string[]))
      counts.set(topic, (counts.get(topic) ?? 0) + 1);
    return counts;
  }

  findOwner(name: string): Promise<OwnerRow | undefined> {
    return this.#db.selectFrom('owners').selectAll().where('lower_name', '=', name.toLowerCase()).executeTakeFirst();
  }

  findOwnerById(id: number): Promise<OwnerRow | undefined> {
    return this.#db.selectFrom('owners').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /**
   * Returns an organization by name.
   * @throws Problem `git.unknown` (404)
   */
  async getOrganization(db: Kysely<Tables>, name: string): Promise<OwnerRow> {
    const row = await db
      .selectFrom('owners')
      .selectAll()
      .where('lower_name', '=', name.toLowerCase())
      .where('kind', '=', 'organization')
      .executeTakeFirst();
    if (row === undefined) throw new Problem('git.unknown', 404, 'not found');
    return row;
  }

  /**
   * Returns the row of an account and creates it at its first use.
   * @throws Problem `git.name_conflict` (409) if an organization, or an account with a different case, has the name
   */
  async ensureOwner(transaction: Kysely<Tables>, name: string, createdAt: number): Promise<OwnerRow> {
    const lowerName = name.toLowerCase();
    await transaction
      .insertInto('owners')
      .values({ name, lower_name: lowerName, kind: 'account', full_name: '', description: '', created_at: createdAt })
      .onConflict((conflict) => conflict.column('lower_name').doNothing())
      .execute();
    const row = await transaction
      .selectFrom('owners')
      .selectAll()
      .where('lower_name', '=', lowerName)
      .executeTakeFirstOrThrow();
    checkOwnerRow(row, name);
    return row;
  }
}

/**
 * Checks that an owner row belongs to an account.
 * @throws Problem `git.name_conflict` (409) if another owner has the name
 */
export function checkOwnerRow(row: Pick<OwnerRow, 'kind' | 'name'>, account: string): void {
  if (row.kind === 'account' && row.name === account) return;
  throw new Problem('git.name_conflict', 409, m.ownerNameTaken({ kind: row.kind, name: row.name, account }));
}

function selectJoined(db: Kysely<Tables>): SelectQueryBuilder<Tables, 'repositories' | 'owners', JoinedRow> {
  return db
    .selectFrom('repositories')
    .innerJoin('owners', 'owners.id', 'repositories.owner_id')
    .selectAll('repositories')
    .select(['owners.name as owner_name', 'owners.kind as owner_kind', 'owners.visibility as owner_visibility'])
    .select(countColumns)
    .where('repositories.filling', '=', 0);
}

function toRepository(row: JoinedRow): Repository {
  return {
    id: row.id,
    owner: row.owner_name,
    ownerId: row.owner_id,
    ownerKind: row.owner_kind,
    ownerVisibility: row.owner_visibility,
    name: row.name,
    folder: row.folder,
    description: row.description,
    website: row.website,
    originalUrl: row.original_url,
    topics: JSON.parse(row.topics) as string[],
    options: JSON.parse(row.options) as Record<string, unknown>,
    private: row.private === 1,
    archived: row.archived === 1,
    template: row.template === 1,
    empty: row.empty === 1,
    defaultBranch: row.default_branch,
    branchCount: row.branch_count,
    size: row.size,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    pushedAt: row.pushed_at,
    counts: {
      stars: row.star_count,
      forks: row.fork_count,
      releases: row.release_count,
      issues: Number(row.open_issues),
      pulls: Number(row.open_pulls),
    },
    parentId: row.parent_id,
  };
}
