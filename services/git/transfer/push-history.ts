import type { PushConsequence } from './pushes.ts';

/** Maximum number of stored reference changes of a repository. */
const maxRows = 500;
/** Maximum number of stored reference changes of one push. */
const maxRowsPerPush = 20;

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
