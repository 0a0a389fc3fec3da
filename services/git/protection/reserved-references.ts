import { zeroId, type RefChange } from '../domain/ref-change.ts';
import type { Repository } from '../repositories/repositories.ts';

/**
 * Returns the reasons why references of a push are rejected independently of the rules: the default branch cannot be
 * deleted, and pull requests are not created by a push to `refs/for/…` (AGit), `refs/drafts/…` or `refs/for-review/…`.
 */
export function findReservedReferences(
  { defaultBranch }: Pick<Repository, 'defaultBranch'>,
  changes: readonly RefChange[],
): ReadonlyMap<string, string> {
  const rejected = new Map<string, string>();
  for (const { ref, after } of changes) {
    if (ref === `refs/heads/${defaultBranch}` && after === zeroId) {
      rejected.set(ref, `branch ${defaultBranch} is the default branch and cannot be deleted`);
    }
    if (/^refs\/(for|for-review|drafts?)\//.test(ref)) {
      rejected.set(ref, 'pull requests cannot be created by a push; push a branch and open a pull request for it');
    }
  }
  return rejected;
}
