import { sql, type SelectQueryBuilder } from 'kysely';
import type { Tables } from '../store/tables.ts';
import { buildContainsPattern } from '../../kit/like-pattern.ts';

/**
 * Repositories that a caller may see: all, or the public ones together with those of some owners and some single ones.
 * `accounts` includes repositories of organizations with limited visibility.
 */
export type RepositoryVisibility =
  | 'all'
  | {
      readonly public: false | 'everyone' | 'accounts';
      readonly owners: readonly number[];
      readonly ids: readonly number[];
    };

export const repositorySorts = [
  'alpha',
  'created',
  'updated',
  'size',
  'git_size',
  'lfs_size',
  'stars',
  'forks',
  'id',
] as const;

/** Filters, order and page of a repository list. Omitted filters match everything. */
export interface RepositoryQuery {
  readonly visibility: RepositoryVisibility;
  readonly searchText?: string | undefined;
  readonly inDescription?: boolean | undefined;
  readonly topic?: string | undefined;
  readonly owner?: string | undefined;
  readonly ownerId?: number | undefined;
  readonly id?: number | undefined;
  readonly private?: boolean | undefined;
  readonly archived?: boolean | undefined;
  readonly template?: boolean | undefined;
  readonly fork?: boolean | undefined;
  readonly sort?: (typeof repositorySorts)[number] | undefined;
  readonly descending?: boolean | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Restricts a selection of repositories and their owners to the matching ones. */
export function applyFilters<Row>(
  rows: SelectQueryBuilder<Tables, 'repositories' | 'owners', Row>,
  query: Omit<RepositoryQuery, 'limit' | 'offset'>,
): SelectQueryBuilder<Tables, 'repositories' | 'owners', Row> {
  const { visibility } = query;
  let filtered = rows;
  if (visibility !== 'all') {
    filtered = filtered.where((is) =>
      is.or([
        ...(visibility.public === false
          ? []
          : [
              is.and([
                is('repositories.private', '=', 0),
                is('owners.visibility', 'in', visibility.public === 'accounts' ? ['public', 'limited'] : ['public']),
              ]),
            ]),
        // No owner has the ID 0. It prevents an empty list, which is invalid SQL.
        is('repositories.owner_id', 'in', [0, ...visibility.owners]),
        ...(visibility.ids.length > 0 ? [is('repositories.id', 'in', [...visibility.ids])] : []),
      ]),
    );
  }
  const searchText = query.searchText?.trim().toLowerCase() ?? '';
  if (searchText !== '') {
    const pattern = buildContainsPattern(searchText);
    filtered = filtered.where((is) =>
      is.or([
        sql<boolean>`${is.ref('repositories.lower_name')} like ${pattern} escape '\\'`,
        ...(query.inDescription === true
          ? [sql<boolean>`lower(${is.ref('repositories.description')}) like ${pattern} escape '\\'`]
          : []),
      ]),
    );
  }
  if (query.topic !== undefined) {
    const topicPattern = buildContainsPattern(JSON.stringify(query.topic.toLowerCase()));
    filtered = filtered.where((is) => sql<boolean>`${is.ref('repositories.topics')} like ${topicPattern} escape '\\'`);
  }
  if (query.owner !== undefined) filtered = filtered.where('owners.lower_name', '=', query.owner.toLowerCase());
  if (query.ownerId !== undefined) filtered = filtered.where('repositories.owner_id', '=', query.ownerId);
  if (query.id !== undefined) filtered = filtered.where('repositories.id', '=', query.id);
  if (query.private !== undefined) filtered = filtered.where('repositories.private', '=', Number(query.private));
  if (query.archived !== undefined) filtered = filtered.where('repositories.archived', '=', Number(query.archived));
  if (query.template !== undefined) filtered = filtered.where('repositories.template', '=', Number(query.template));
  if (query.fork !== undefined) {
    const forks = sql<number>`(select repository_id from forks)`;
    filtered = filtered.where('repositories.id', query.fork ? 'in' : 'not in', forks);
  }
  return filtered;
}

/** Returns the column of an order. Orders without a column sort by name. */
export function getSortColumn(sort: RepositoryQuery['sort']) {
  switch (sort) {
    case 'created':
      return 'repositories.created_at';
    case 'updated':
      return 'repositories.updated_at';
    case 'size':
    case 'git_size':
      return 'repositories.size';
    case 'id':
      return 'repositories.id';
    case undefined:
    case 'alpha':
    case 'lfs_size':
    case 'stars':
    case 'forks':
      return 'repositories.lower_name';
  }
}
