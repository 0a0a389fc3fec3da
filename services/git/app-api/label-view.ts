import type { GitLabel } from '../../contracts/git/issues.ts';
import type { LabelRow } from '../store/issue-tables.ts';

/** Converts a label to the form of the pages. */
export function labelView({ id, name, color, description }: LabelRow): GitLabel {
  return { id, name, color, description };
}
