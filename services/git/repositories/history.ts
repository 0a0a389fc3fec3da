import { sql, type Kysely, type RawBuilder, type SelectQueryBuilder, type SqlBool } from 'kysely';
import { findOwn } from '../../contracts/find-own.ts';
import type { GitEvent } from '../../contracts/git/overview-api.ts';
import type { EntryKind } from '../store/issue-tables.ts';
import type { Tables } from '../store/tables.ts';
import { noObject } from '../transfer/push-request.ts';
import type { PushConsequence } from '../transfer/pushes.ts';
import type { Repositories, Sight } from './repositories.ts';

/** Changes of references that are remembered, of each repository; and of one push. */
const mostKept = 500;
const mostOfOnePush = 20;
const told: Partial<Record<EntryKind, GitEvent['kind']>> = {
  close: 'closed',
  reopen: 'reopened',
  merge_pull: 'merged',
  comment: 'commented',
  review: 'reviewed',
};

/** Where a page of the history ended. */
export interface HistoryPlace {
  readonly time: number;
  /** The event's id; without it all of that time are left out. */
  readonly id?: string | undefined;
}

/** Remembers what a push changed. */
export function rememberPushes(clock: { now(): number }): PushConsequence {
  return async (transaction, { account, changes, repository }) => {
    const shown = changes.filter(({ ref }) => /^refs\/(heads|tags)\//.test(ref)).slice(0, mostOfOnePush);
    if (shown.length === 0) return;
    const common = { repository_id: repository.id, account, created_at: clock.now() };
    await transaction
      .insertInto('push_history')
      .values(shown.map((change) => ({ ...common, ...change })))
      .execute();
    const oldest = await transaction
      .selectFrom('push_history')
      .select('id')
      .where('repository_id', '=', repository.id)
      .orderBy('id', 'desc')
      .offset(mostKept)
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

/** What happened in repositories that somebody may see, the newest first; with `account`, what that did. */
export async function readHistory(
  { db, repositories }: { readonly db: Kysely<Tables>; readonly repositories: Repositories },
  sight: Sight,
  {
    account: by,
    repository: id,
    before,
    limit,
  }: {
    readonly account?: string;
    readonly repository?: number | undefined;
    readonly before?: HistoryPlace | undefined;
    readonly limit: number;
  },
): Promise<readonly GitEvent[]> {
  const ids = repositories.idsOf({ sight, id });
  const place = ['owners.name as owner', 'repositories.name as name'] as const;
  /** The page of one kind; `time` is when such a thing happened, `account` who did it. */
  const page = <DB, TB extends keyof DB, Row>(
    query: SelectQueryBuilder<DB, TB, Row>,
    kind: string,
    { id, time, account }: { readonly id: string; readonly time: string; readonly account: string },
  ) =>
    query
      .where(olderThan(before, kind, time, id))
      .$if(by !== undefined, (rows) => rows.where(sql<SqlBool>`${sql.ref(account)} = ${by}`))
      .orderBy(sql.ref(time), 'desc')
      .orderBy(sql.ref(id), 'desc')
      .limit(limit)
      .execute();
  const [pushes, issues, entries, releases] = await Promise.all([
    page(
      db
        .selectFrom('push_history')
        .innerJoin('repositories', 'repositories.id', 'push_history.repository_id')
        .innerJoin('owners', 'owners.id', 'repositories.owner_id')
        .select([...place, 'push_history.id', 'account', 'ref', 'before', 'after', 'push_history.created_at as time'])
        .where('push_history.repository_id', 'in', ids),
      'p',
      { id: 'push_history.id', time: 'push_history.created_at', account: 'account' },
    ),
    page(
      db
        .selectFrom('issues')
        .innerJoin('repositories', 'repositories.id', 'issues.repository_id')
        .innerJoin('owners', 'owners.id', 'repositories.owner_id')
        .select([...place, 'issues.id', 'author as account', 'title', 'number', 'pull', 'issues.created_at as time'])
        .where('issues.repository_id', 'in', ids),
      'i',
      { id: 'issues.id', time: 'issues.created_at', account: 'issues.author' },
    ),
    page(
      db
        .selectFrom('issue_entries')
        .innerJoin('issues', 'issues.id', 'issue_entries.issue_id')
        .innerJoin('repositories', 'repositories.id', 'issues.repository_id')
        .innerJoin('owners', 'owners.id', 'repositories.owner_id')
        .select([...place, 'issue_entries.id', 'issue_entries.author as account', 'issue_entries.created_at as time'])
        .select(['issue_entries.kind as entry_kind', 'title', 'number', 'pull'])
        .where('issues.repository_id', 'in', ids)
        .where('issue_entries.kind', 'in', Object.keys(told) as EntryKind[]),
      'e',
      { id: 'issue_entries.id', time: 'issue_entries.created_at', account: 'issue_entries.author' },
    ),
    page(
      db
        .selectFrom('releases')
        .innerJoin('repositories', 'repositories.id', 'releases.repository_id')
        .innerJoin('owners', 'owners.id', 'repositories.owner_id')
        .select([...place, 'releases.id', 'author as account', 'title', 'published_at as time'])
        .where('releases.repository_id', 'in', ids)
        .where('draft', '=', 0),
      'r',
      { id: 'releases.id', time: 'published_at', account: 'releases.author' },
    ),
  ]);
  const none = { number: null, pull: false, tag: false, commit: '', title: '' } as const;
  const events: GitEvent[] = [
    ...pushes.map(({ after, before: was, id, ref, ...row }) => ({
      ...none,
      ...row,
      id: `p${id}`,
      what: ref.replace(/^refs\/(heads|tags)\//, ''),
      tag: ref.startsWith('refs/tags/'),
      kind: after === noObject ? ('deleted' as const) : was === noObject ? ('created' as const) : ('pushed' as const),
      commit: after === noObject ? '' : after,
    })),
    ...issues.map(({ id, pull, title, ...row }) => ({
      ...none,
      ...row,
      id: `i${id}`,
      kind: 'opened' as const,
      what: title,
      pull: pull === 1,
    })),
    ...entries.map(({ entry_kind, id, pull, title, ...row }) => ({
      ...none,
      ...row,
      id: `e${id}`,
      kind: findOwn(told, entry_kind) ?? 'commented',
      what: title,
      pull: pull === 1,
    })),
    ...releases.map(({ id, title, ...row }) => ({
      ...none,
      ...row,
      id: `r${id}`,
      kind: 'released' as const,
      what: title,
    })),
  ];
  return events.toSorted(newestFirst).slice(0, limit);
}

/** Of one time, by what they are, and of that the last one first. */
function newestFirst(one: GitEvent, other: GitEvent): number {
  const [a, b] = [partsOf(one.id), partsOf(other.id)];
  return other.time - one.time || a.kind.localeCompare(b.kind) || b.number - a.number;
}

/** Those rows of a kind that come after a place in that order. */
function olderThan(before: HistoryPlace | undefined, kind: string, time: string, id: string): RawBuilder<SqlBool> {
  if (before === undefined) return sql<SqlBool>`1 = 1`;
  const [at, numbered] = [sql.ref(time), sql.ref(id)];
  const last = before.id === undefined ? undefined : partsOf(before.id);
  if (last === undefined || kind < last.kind) return sql<SqlBool>`${at} < ${before.time}`;
  if (kind > last.kind) return sql<SqlBool>`${at} <= ${before.time}`;
  return sql<SqlBool>`(${at} < ${before.time} or (${at} = ${before.time} and ${numbered} < ${last.number}))`;
}

/** An id says what it is of, and the row's number. */
function partsOf(id: string): { readonly kind: string; readonly number: number } {
  return { kind: id.slice(0, 1), number: Number(id.slice(1)) };
}
