import type { Db } from '../store/tables.ts';

/** Allowed reactions, with Gitea's names. */
export const reactions = ['+1', '-1', 'laugh', 'hooray', 'confused', 'heart', 'rocket', 'eyes'] as const;
export type Reaction = (typeof reactions)[number];

/** Subject of reactions: a comment of an issue, or the issue itself with entry 0. */
export interface ReactionSubject {
  readonly issue: number;
  readonly entry: number;
}

/** Returns whether a text is an allowed reaction. */
export function isReaction(content: string): content is Reaction {
  return (reactions as readonly string[]).includes(content);
}

/** Adds a reaction of an account. Returns false if it exists already. */
export async function addReaction(
  db: Db,
  { issue, entry }: ReactionSubject,
  { account, content, now }: { readonly account: string; readonly content: Reaction; readonly now: number },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows: added } = await db
    .insertInto('issue_reactions')
    .values({ issue_id: issue, entry_id: entry, account, content, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return added !== 0n;
}

/** Removes a reaction of an account. */
export async function removeReaction(
  db: Db,
  { issue, entry }: ReactionSubject,
  { account, content }: { readonly account: string; readonly content: Reaction },
): Promise<void> {
  await db
    .deleteFrom('issue_reactions')
    .where('issue_id', '=', issue)
    .where('entry_id', '=', entry)
    .where('account', '=', account)
    .where('content', '=', content)
    .execute();
}

/** Reactions of one kind with their accounts, oldest first. */
export interface ReactionGroup {
  readonly content: Reaction;
  readonly accounts: readonly string[];
}

/** Reads the reactions to an issue and its comments, grouped by entry; entry 0 is the issue itself. */
export async function readReactions(db: Db, issue: number): Promise<ReadonlyMap<number, readonly ReactionGroup[]>> {
  const rows = await db
    .selectFrom('issue_reactions')
    .select(['entry_id', 'account', 'content'])
    .where('issue_id', '=', issue)
    .orderBy('created_at')
    .orderBy('account')
    .execute();
  const result = new Map<number, readonly ReactionGroup[]>();
  for (const entry of new Set(rows.map(({ entry_id }) => entry_id))) {
    const groups = reactions.map((content) => ({
      content,
      accounts: rows.flatMap((row) => (row.entry_id === entry && row.content === content ? [row.account] : [])),
    }));
    result.set(
      entry,
      groups.filter(({ accounts }) => accounts.length > 0),
    );
  }
  return result;
}
