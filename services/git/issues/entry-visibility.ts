import type { ExpressionBuilder } from 'kysely';
import type { Tables } from '../store/tables.ts';

/** Entries that somebody may see: those of a review that is not sent yet are there for its author alone. */
export function seenBy(account: string | undefined) {
  return (is: ExpressionBuilder<Tables, 'issue_entries'>) =>
    is.or([
      is('issue_entries.review_id', 'is', null),
      is(
        'issue_entries.review_id',
        'in',
        is
          .selectFrom('reviews')
          .select('reviews.id')
          .where((each) =>
            each.or([each('reviews.state', '!=', 'PENDING'), each('reviews.author', '=', account ?? '')]),
          ),
      ),
    ]);
}
