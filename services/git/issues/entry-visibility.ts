import type { ExpressionBuilder } from 'kysely';
import type { Tables } from '../store/tables.ts';

/** Filters timeline entries for an account. Entries of a pending review are visible only to its author. */
export function isVisibleTo(account: string | undefined) {
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
