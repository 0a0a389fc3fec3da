import { sql, type Kysely, type RawBuilder, type SelectQueryBuilder, type SqlBool } from 'kysely';
import { findOwn } from '../../contracts/find-own.ts';
import type { GitEvent } from '../../contracts/git/overview-api.ts';
import type { EntryKind } from '../store/issue-tables.ts';
import type { Tables } from '../store/tables.ts';
import { zeroId } from '../transfer/push-request.ts';
import type { PushConsequence } from '../transfer/pushes.ts';
import type { Repositories } from './repositories.ts';
import type { RepositoryVisibility } from './repository-query.ts';

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

const repositoryColumns = ['owners.name as owner', 'repositories.name as name'] as const;
const defaultFields = { number: null, pull: false, tag: false, commit: '', title: '' } as const;

interface HistoryQuery {
  readonly account?: string;
  readonly repository?: number | undefined;
  readonly before?: HistoryCursor | undefined;
  readonly limit: number;
}

interface HistorySource {
  readonly db: Kysely<Tables>;
  readonly ids: ReturnType<Repositories['selectIds']>;
  readonly selectPage: ReturnType<typeof createPageSelector>;
}

/** Lists events in visible repositories, newest first. With `account`, only events of this account. */
export async function readHistory(
  { db, repositories }: { readonly db: Kysely<Tables>; readonly repositories: Repositories },
  visibility: RepositoryVisibility,
  query: HistoryQuery,
): Promise<readonly GitEvent[]> {
  const ids = repositories.selectIds({ visibility, id: query.repository });
  const source: HistorySource = { db, ids, selectPage: createPageSelector(query) };
  const events = await Promise.all([
    readPushEvents(source),
    readIssueEvents(source),
    readEntryEvents(source),
    readReleaseEvents(source),
  ]);
  return events.flat().toSorted(compareNewestFirst).slice(0, query.limit);
}

/** Returns a function that selects a page of one kind of event by its ID, time and account columns. */
function createPageSelector({ account: by, before, limit }: HistoryQuery) {
  return <DB, TB extends keyof DB, Row>(
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
}

async function readPushEvents({ db, ids, selectPage }: HistorySource): Promise<readonly GitEvent[]> {
  const query = db
    .selectFrom('push_history')
    .innerJoin('repositories', 'repositories.id', 'push_history.repository_id')
    .innerJoin('owners', 'owners.id', 'repositories.owner_id')
    .select([...repositoryColumns, 'push_history.id', 'account', 'ref', 'before', 'after'])
    .select('push_history.created_at as time')
    .where('push_history.repository_id', 'in', ids);
  const columns = { id: 'push_history.id', time: 'push_history.created_at', account: 'account' };
  const rows = await selectPage(query, 'p', columns);
  return rows.map(({ after, before: previous, id, ref, ...row }) => ({
    ...defaultFields,
    ...row,
    id: `p${id}`,
    what: ref.replace(/^refs\/(heads|tags)\//, ''),
    tag: ref.startsWith('refs/tags/'),
    kind: after === zeroId ? ('deleted' as const) : previous === zeroId ? ('created' as const) : ('pushed' as const),
    commit: after === zeroId ? '' : after,
  }));
}

async function readIssueEvents({ db, ids, selectPage }: HistorySource): Promise<readonly GitEvent[]> {
  const query = db
    .selectFrom('issues')
    .innerJoin('repositories', 'repositories.id', 'issues.repository_id')
    .innerJoin('owners', 'owners.id', 'repositories.owner_id')
    .select([...repositoryColumns, 'issues.id', 'author as account', 'title', 'number', 'pull'])
    .select('issues.created_at as time')
    .where('issues.repository_id', 'in', ids);
  const rows = await selectPage(query, 'i', { id: 'issues.id', time: 'issues.created_at', account: 'issues.author' });
  return rows.map(({ id, pull, title, ...row }) => ({
    ...defaultFields,
    ...row,
    id: `i${id}`,
    kind: 'opened' as const,
    what: title,
    pull: pull === 1,
  }));
}

async function readEntryEvents({ db, ids, selectPage }: HistorySource): Promise<readonly GitEvent[]> {
  const query = db
    .selectFrom('issue_entries')
    .innerJoin('issues', 'issues.id', 'issue_entries.issue_id')
    .innerJoin('repositories', 'repositories.id', 'issues.repository_id')
    .innerJoin('owners', 'owners.id', 'repositories.owner_id')
    .select([...repositoryColumns, 'issue_entries.id', 'issue_entries.author as account'])
    .select(['issue_entries.created_at as time', 'issue_entries.kind as entry_kind', 'title', 'number', 'pull'])
    .where('issues.repository_id', 'in', ids)
    .where('issue_entries.kind', 'in', Object.keys(eventKinds) as EntryKind[]);
  const columns = { id: 'issue_entries.id', time: 'issue_entries.created_at', account: 'issue_entries.author' };
  const rows = await selectPage(query, 'e', columns);
  return rows.map(({ entry_kind, id, pull, title, ...row }) => ({
    ...defaultFields,
    ...row,
    id: `e${id}`,
    kind: findOwn(eventKinds, entry_kind) ?? 'commented',
    what: title,
    pull: pull === 1,
  }));
}

async function readReleaseEvents({ db, ids, selectPage }: HistorySource): Promise<readonly GitEvent[]> {
  const query = db
    .selectFrom('releases')
    .innerJoin('repositories', 'repositories.id', 'releases.repository_id')
    .innerJoin('owners', 'owners.id', 'repositories.owner_id')
    .select([...repositoryColumns, 'releases.id', 'author as account', 'title', 'published_at as time'])
    .where('releases.repository_id', 'in', ids)
    .where('draft', '=', 0);
  const rows = await selectPage(query, 'r', { id: 'releases.id', time: 'published_at', account: 'releases.author' });
  return rows.map(({ id, title, ...row }) => ({
    ...defaultFields,
    ...row,
    id: `r${id}`,
    kind: 'released' as const,
    what: title,
  }));
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
