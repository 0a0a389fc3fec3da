import { sql, type Kysely, type RawBuilder, type SelectQueryBuilder, type SqlBool } from 'kysely';
import { findOwn } from '../../contracts/find-own.ts';
import type { GitEvent } from '../../contracts/git/overview-api.ts';
import type { EntryKind } from '../store/issue-tables.ts';
import type { Tables } from '../store/tables.ts';
import { zeroId } from '../transfer/push-request.ts';
import type { PushConsequence } from '../transfer/pushes.ts';
import type { Repositories, RepositoryVisibility } from './repositories.ts';

/** Maximum number of stored reference changes of a repository. */
const maxRows = 500;
/** Maximum number of stored reference changes of one push. */
const maxRowsPerPush = 20;
const eventKinds: Partial<Record<EntryKind, GitEvent['kind']>> = {
  close: 'closed',
  reopen: 'reopened',
  merge_pull: 'merged',
  comment: 'commented',
  review: 'reviewed',
};

/** Cursor of a page of the history. */
export interface HistoryCursor {
  readonly time: number;
  /** ID of the last event. Without it, all events with the same time are skipped. */
  readonly id?: string | undefined;
}

/** Returns a consequence that stores the reference changes of a push. */
export function recordPushHistory(clock: { now(): number }): PushConsequence {
  return async (transaction, { account, changes, repository }) => {
    const visible = changes.filter(({ ref }) => /^refs\/(heads|tags)\//.test(ref)).slice(0, maxRowsPerPush);
    if (visible.length === 0) return;
    const common = { repository_id: repository.id, account, created_at: clock.now() };
    await transaction
      .insertInto('push_history')
      .values(visible.map((change) => ({ ...common, ...change })))
      .execute();
    const oldest = await transaction
      .selectFrom('push_history')
      .select('id')
      .where('repository_id', '=', repository.id)
      .orderBy('id', 'desc')
      .offset(maxRows)
      .limit(1)
      .executeTakeFirst();
    if (oldest === undefined) return;
    await transaction
      .deleteFrom('push_history')
      .where('repository_id', '=', repository.id)
      .where('id', '<=', oldest.id)
      .execute();
  };
}

/** Lists events in visible repositories, newest first. With `account`, only events of this account. */
export async function readHistory(
  { db, repositories }: { readonly db: Kysely<Tables>; readonly repositories: Repositories },
  visibility: RepositoryVisibility,
  {
    account: by,
    repository: id,
    before,
    limit,
  }: {
    readonly account?: string;
    readonly repository?: number | undefined;
    readonly before?: HistoryCursor | undefined;
    readonly limit: number;
  },
): Promise<readonly GitEvent[]> {
  const ids = repositories.selectIds({ visibility, id });
  const repositoryColumns = ['owners.name as owner', 'repositories.name as name'] as const;
  /** Selects a page of one kind of event by its ID, time and account columns. */
  const selectPage = <DB, TB extends keyof DB, Row>(
    query: SelectQueryBuilder<DB, TB, Row>,
    kind: string,
    { id, time, account }: { readonly id: string; readonly time: string; readonly account: string },
  ) =>
    query
      .where(isBeforeCursor(before, kind, time, id))
      .$if(by !== undefined, (rows) => rows.where(sql<SqlBool>`${sql.ref(account)} = ${by}`))
      .orderBy(sql.ref(time), 'desc')
      .orderBy(sql.ref(id), 'desc')
      .limit(limit)
      .execute();
  const [pushes, issues, entries, releases] = await Promise.all([
    selectPage(
      db
        .selectFrom('push_history')
        .innerJoin('repositories', 'repositories.id', 'push_history.repository_id')
        .innerJoin('owners', 'owners.id', 'repositories.owner_id')
        .select([
          ...repositoryColumns,
          'push_history.id',
          'account',
          'ref',
          'before',
          'after',
          'push_history.created_at as time',
        ])
        .where('push_history.repository_id', 'in', ids),
      'p',
      { id: 'push_history.id', time: 'push_history.created_at', account: 'account' },
    ),
    selectPage(
      db
        .selectFrom('issues')
        .innerJoin('repositories', 'repositories.id', 'issues.repository_id')
        .innerJoin('owners', 'owners.id', 'repositories.owner_id')
        .select([
          ...repositoryColumns,
          'issues.id',
          'author as account',
          'title',
          'number',
          'pull',
          'issues.created_at as time',
        ])
        .where('issues.repository_id', 'in', ids),
      'i',
      { id: 'issues.id', time: 'issues.created_at', account: 'issues.author' },
    ),
    selectPage(
      db
        .selectFrom('issue_entries')
        .innerJoin('issues', 'issues.id', 'issue_entries.issue_id')
        .innerJoin('repositories', 'repositories.id', 'issues.repository_id')
        .innerJoin('owners', 'owners.id', 'repositories.owner_id')
        .select([
          ...repositoryColumns,
          'issue_entries.id',
          'issue_entries.author as account',
          'issue_entries.created_at as time',
        ])
        .select(['issue_entries.kind as entry_kind', 'title', 'number', 'pull'])
        .where('issues.repository_id', 'in', ids)
        .where('issue_entries.kind', 'in', Object.keys(eventKinds) as EntryKind[]),
      'e',
      { id: 'issue_entries.id', time: 'issue_entries.created_at', account: 'issue_entries.author' },
    ),
    selectPage(
      db
        .selectFrom('releases')
        .innerJoin('repositories', 'repositories.id', 'releases.repository_id')
        .innerJoin('owners', 'owners.id', 'repositories.owner_id')
        .select([...repositoryColumns, 'releases.id', 'author as account', 'title', 'published_at as time'])
        .where('releases.repository_id', 'in', ids)
        .where('draft', '=', 0),
      'r',
      { id: 'releases.id', time: 'published_at', account: 'releases.author' },
    ),
  ]);
  const defaults = { number: null, pull: false, tag: false, commit: '', title: '' } as const;
  const events: GitEvent[] = [
    ...pushes.map(({ after, before: previous, id, ref, ...row }) => ({
      ...defaults,
      ...row,
      id: `p${id}`,
      what: ref.replace(/^refs\/(heads|tags)\//, ''),
      tag: ref.startsWith('refs/tags/'),
      kind: after === zeroId ? ('deleted' as const) : previous === zeroId ? ('created' as const) : ('pushed' as const),
      commit: after === zeroId ? '' : after,
    })),
    ...issues.map(({ id, pull, title, ...row }) => ({
      ...defaults,
      ...row,
      id: `i${id}`,
      kind: 'opened' as const,
      what: title,
      pull: pull === 1,
    })),
    ...entries.map(({ entry_kind, id, pull, title, ...row }) => ({
      ...defaults,
      ...row,
      id: `e${id}`,
      kind: findOwn(eventKinds, entry_kind) ?? 'commented',
      what: title,
      pull: pull === 1,
    })),
    ...releases.map(({ id, title, ...row }) => ({
      ...defaults,
      ...row,
      id: `r${id}`,
      kind: 'released' as const,
      what: title,
    })),
  ];
  return events.toSorted(compareNewestFirst).slice(0, limit);
}

/** Orders events by time, then by kind, then by descending ID. */
function compareNewestFirst(one: GitEvent, other: GitEvent): number {
  const [a, b] = [parseEventId(one.id), parseEventId(other.id)];
  return other.time - one.time || a.kind.localeCompare(b.kind) || b.number - a.number;
}

/** Builds the condition for rows of a kind that follow the cursor in this order. */
function isBeforeCursor(
  before: HistoryCursor | undefined,
  kind: string,
  time: string,
  id: string,
): RawBuilder<SqlBool> {
  if (before === undefined) return sql<SqlBool>`1 = 1`;
  const [timeColumn, idColumn] = [sql.ref(time), sql.ref(id)];
  const cursor = before.id === undefined ? undefined : parseEventId(before.id);
  if (cursor === undefined || kind < cursor.kind) return sql<SqlBool>`${timeColumn} < ${before.time}`;
  if (kind > cursor.kind) return sql<SqlBool>`${timeColumn} <= ${before.time}`;
  return sql<SqlBool>`(${timeColumn} < ${before.time} or (${timeColumn} = ${before.time} and ${idColumn} < ${cursor.number}))`;
}

/** Splits an event ID into the kind and the ID of the row. */
function parseEventId(id: string): { readonly kind: string; readonly number: number } {
  return { kind: id.slice(0, 1), number: Number(id.slice(1)) };
}
