import type { GitChecks } from '../../../../services/contracts/git/api.ts';

/** What checks say of a commit together: `Checks passed`, `1 of 3 checks passed`, `Checks run`. */
export function checksWords({ state, passed, total }: GitChecks): {
  readonly words: string;
  readonly tone: 'ok' | 'warn' | 'bad' | 'plain';
} {
  const some = total === 1 ? 'Check' : 'Checks';
  if (state === 'pending') return { words: `${some} running`, tone: 'plain' };
  if (state === 'skipped') return { words: `${some} skipped`, tone: 'plain' };
  if (state === 'success') return { words: `${some} passed`, tone: 'ok' };
  const tone = state === 'warning' ? 'warn' : 'bad';
  const word = state === 'warning' ? 'warns' : 'failed';
  return { words: total === 1 ? `Check ${word}` : `${passed} of ${total} checks passed`, tone };
}
