import { sql, type Kysely, type RawBuilder, type SqlBool } from 'kysely';
import type { GitEvent } from '../../contracts/git/overview-api.ts';
import type { EntryKind } from '../store/issue-tables.ts';
import type { Tables } from '../store/tables.ts';
import { noObject } from '../transfer/push-request.ts';
import type { PushConsequence } from '../transfer/pushes.ts';
import type { Repositories, Sight } from './repositories.ts';

/** Changes of references that are remembered, of each repository; and of one push. */
const mostKept = 500;
const mostOfOnePush = 20;
const told: Partial<Record<EntryKind, GitEvent['kind']>> = { close: 'closed', reopen: 'reopened', merge_pull: 'merged', comment: 'commented', review: 'reviewed' }; // prettier-ignore

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
    await transaction.insertInto('push_history').values(shown.map((change) => ({ ...common, ...change }))).execute(); // prettier-ignore
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

/** What happened in repositories that somebody may see, the newest first. */
export async function readHistory(
  { db, repositories }: { readonly db: Kysely<Tables>; readonly repositories: Repositories },
  sight: Sight,
  { before, limit }: { readonly before?: HistoryPlace | undefined; readonly limit: number },
): Promise<readonly GitEvent[]> {
  const ids = repositories.idsOf({ sight });
  const place = ['owners.name as owner', 'repositories.name as name'] as const;
  const [pushes, issues, entries, releases] = await Promise.all([
    db
      .selectFrom('push_history')
      .innerJoin('repositories', 'repositories.id', 'push_history.repository_id')
      .innerJoin('owners', 'owners.id', 'repositories.owner_id')
      .select([...place, 'push_history.id', 'account', 'ref', 'before', 'after', 'push_history.created_at'])
      .where('push_history.repository_id', 'in', ids)
      .where(olderThan(before, 'p', 'push_history.created_at', 'push_history.id'))
      .orderBy('push_history.created_at', 'desc')
      .orderBy('push_history.id', 'desc')
      .limit(limit)
      .execute(),
    db
      .selectFrom('issues')
      .innerJoin('repositories', 'repositories.id', 'issues.repository_id')
      .innerJoin('owners', 'owners.id', 'repositories.owner_id')
      .select([...place, 'issues.id', 'author', 'title', 'number', 'pull', 'issues.created_at'])
      .where('issues.repository_id', 'in', ids)
      .where(olderThan(before, 'i', 'issues.created_at', 'issues.id'))
      .orderBy('issues.created_at', 'desc')
      .orderBy('issues.id', 'desc')
      .limit(limit)
      .execute(),
    db
      .selectFrom('issue_entries')
      .innerJoin('issues', 'issues.id', 'issue_entries.issue_id')
      .innerJoin('repositories', 'repositories.id', 'issues.repository_id')
      .innerJoin('owners', 'owners.id', 'repositories.owner_id')
      .select([
        ...place,
        'issue_entries.id',
        'issue_entries.author',
        'issue_entries.kind as entry_kind',
        'title',
        'number',
        'pull',
        'issue_entries.created_at',
      ]) // prettier-ignore
      .where('issues.repository_id', 'in', ids)
      .where('issue_entries.kind', 'in', Object.keys(told) as EntryKind[])
      .where(olderThan(before, 'e', 'issue_entries.created_at', 'issue_entries.id'))
      .orderBy('issue_entries.created_at', 'desc')
      .orderBy('issue_entries.id', 'desc')
      .limit(limit)
      .execute(),
    db
      .selectFrom('releases')
      .innerJoin('repositories', 'repositories.id', 'releases.repository_id')
      .innerJoin('owners', 'owners.id', 'repositories.owner_id')
      .select([...place, 'releases.id', 'author', 'title', 'published_at'])
      .where('releases.repository_id', 'in', ids)
      .where('draft', '=', 0)
      .where(olderThan(before, 'r', 'published_at', 'releases.id'))
      .orderBy('published_at', 'desc')
      .orderBy('releases.id', 'desc')
      .limit(limit)
      .execute(),
  ]);
  const none = { number: null, pull: false, commit: '' } as const;
  const events: GitEvent[] = [
    ...pushes.map(({ account, after, before: was, created_at, id, name, owner, ref }) => ({
      ...{ id: `p${id}`, owner, name, account, time: created_at, number: null, pull: false },
      kind: after === noObject ? ('deleted' as const) : was === noObject ? ('created' as const) : ('pushed' as const),
      what: ref.replace(/^refs\/(heads|tags)\//, ''),
      commit: after === noObject ? '' : after,
    })),
    ...issues.map(({ author, created_at, id, name, number, owner, pull, title }) => ({
      ...{
        ...none,
        id: `i${id}`,
        kind: 'opened' as const,
        owner,
        name,
        account: author,
        time: created_at,
        what: title,
      },
      ...{ number, pull: pull === 1 },
    })),
    ...entries.map(({ author, created_at, entry_kind, id, name, number, owner, pull, title }) => ({
      ...{
        ...none,
        id: `e${id}`,
        kind: told[entry_kind] ?? 'commented',
        owner,
        name,
        account: author,
        time: created_at,
      },
      ...{ what: title, number, pull: pull === 1 },
    })),
    ...releases.map(({ author, id, name, owner, published_at, title }) => ({
      ...{ ...none, id: `r${id}`, kind: 'released' as const, owner, name, account: author, time: published_at, what: title }, // prettier-ignore
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
