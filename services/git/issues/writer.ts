import type { Kysely } from 'kysely';
import { gitIssuesChanged } from '../../contracts/git/topics.ts';
import type { Context } from '../../contracts/service.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { EntryDetails, EntryKind } from '../store/issue-tables.ts';
import type { Tables } from '../store/tables.ts';
import { findMentions } from '../domain/issue-text.ts';
import { indexIssue } from './search-index.ts';

/** Event of an issue or a pull request. */
export interface IssueEvent {
  /** Event name of Gitea's webhooks, e.g. `issues`, `issue_comment`, `pull_request`. */
  readonly event: string;
  readonly action: string;
  readonly issue: number;
  readonly entry?: number;
  readonly review?: number;
}

/** Receives events in the transaction that stores the change. */
export type IssueListener = (
  transaction: Kysely<Tables>,
  change: { readonly repository: Repository; readonly account: string; readonly events: readonly IssueEvent[] },
) => Promise<void>;

/** Transaction in which an account changes issues of a repository. */
export interface IssueWork {
  readonly db: Kysely<Tables>;
  readonly repository: Repository;
  readonly account: string;
  /** ms since the epoch. */
  readonly now: number;
  readonly events: IssueEvent[];
}

export interface IssueWriterDependencies {
  readonly context: Pick<Context, 'accounts' | 'bus' | 'clock' | 'commit'>;
  readonly listeners: readonly IssueListener[];
}

/** Changes issues together with their timeline and notifications in one transaction. */
export class IssueWriter {
  readonly #dependencies: IssueWriterDependencies;

  constructor(deps: IssueWriterDependencies) {
    this.#dependencies = deps;
  }

  /** Runs `work` in a new transaction. It must not have other side effects, because it may run twice. */
  async run<T>(repository: Repository, account: string, work: (work: IssueWork) => Promise<T>): Promise<T> {
    const { bus, commit } = this.#dependencies.context;
    const value = await commit((transaction: Kysely<Tables>) => this.within(transaction, repository, account, work));
    bus.publish(gitIssuesChanged, { repository: repository.id });
    return value;
  }

  /** Runs `work` in an existing transaction. The owner of the transaction publishes the change. */
  async within<T>(
    db: Kysely<Tables>,
    repository: Repository,
    account: string,
    work: (work: IssueWork) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#dependencies.context;
    const events: IssueEvent[] = [];
    const value = await work({ db, repository, account, now: clock.now(), events });
    if (events.length > 0) {
      for (const listener of this.#dependencies.listeners) await listener(db, { repository, account, events });
    }
    return value;
  }
}

/** Adds an entry to the timeline of an issue and returns its ID. */
export async function addEntry(
  { account, db, now }: IssueWork,
  issue: number,
  kind: EntryKind,
  { body = '', review, ...details }: EntryDetails & { readonly body?: string; readonly review?: number } = {},
): Promise<number> {
  const row = await db
    .insertInto('issue_entries')
    .values({
      issue_id: issue,
      kind,
      author: account,
      body,
      details: JSON.stringify(details),
      review_id: review ?? null,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/** LIKE pattern for the details of entries from other repositories. Quotes inside of a text are escaped in JSON. */
export const fromOtherRepository = '%"repository":%';

/** Updates the modification time of an issue. */
export async function touch({ db, now }: IssueWork, issue: number): Promise<void> {
  await db.updateTable('issues').set({ updated_at: now }).where('id', '=', issue).execute();
}

/** Updates the search index and the mentions after a text of the issue was changed. */
export async function recordText(work: IssueWork, issue: number, text: string): Promise<void> {
  await indexIssue(work.db, issue);
  const names = findMentions(text);
  if (names.length === 0) return;
  await work.db
    .insertInto('issue_mentions')
    .values(names.map((account) => ({ issue_id: issue, account })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Creates notifications for all participants and watchers of an issue except the author of the change. */
export async function notifyParticipants(
  { account, db, now, repository }: IssueWork,
  issue: number,
  entry?: number,
): Promise<void> {
  const selectAccounts = (table: 'issue_assignees' | 'issue_mentions' | 'review_requests') =>
    db.selectFrom(table).select('account').where('issue_id', '=', issue);
  const participants = await db
    .selectFrom('issues')
    .select('author as account')
    .where('id', '=', issue)
    .union(selectAccounts('issue_assignees'))
    .union(selectAccounts('issue_mentions'))
    .union(selectAccounts('review_requests'))
    .union(
      db
        .selectFrom('issue_entries')
        .select('author as account')
        .where('issue_id', '=', issue)
        // The author of a reference from another repository does not become a participant.
        .where('details', 'not like', fromOtherRepository),
    )
    .union(db.selectFrom('repository_watches').select('account').where('repository_id', '=', repository.id))
    .union(db.selectFrom('issue_watches').select('account').where('issue_id', '=', issue).where('watching', '=', 1))
    .execute();
  const muted = await db
    .selectFrom('issue_watches')
    .select('account')
    .where('issue_id', '=', issue)
    .where('watching', '=', 0)
    .execute();
  const recipients = new Set([
    ...participants.map((each) => each.account),
    ...(repository.ownerKind === 'account' ? [repository.owner] : []),
  ]);
  for (const name of [account, ...muted.map((each) => each.account)]) recipients.delete(name);
  if (recipients.size === 0) return;
  await db
    .insertInto('issue_notifications')
    .values(
      [...recipients].map((name) => ({
        account: name,
        issue_id: issue,
        state: 'unread' as const,
        entry_id: entry ?? null,
        updated_at: now,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['account', 'issue_id'])
        .doUpdateSet({ state: 'unread', updated_at: now, ...(entry === undefined ? {} : { entry_id: entry }) }),
    )
    .execute();
}
