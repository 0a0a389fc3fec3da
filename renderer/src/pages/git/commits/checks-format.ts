import type { GitChecks } from '../../../../../services/contracts/git/api.ts';

/** Formats the combined result of a commit's checks: `Checks passed`, `1 of 3 checks passed`, `Checks running`. */
export function formatChecks({ state, passed, total }: GitChecks): {
  readonly label: string;
  readonly tone: 'ok' | 'warn' | 'bad' | 'plain';
} {
  const subject = total === 1 ? 'Check' : 'Checks';
  if (state === 'pending') return { label: `${subject} running`, tone: 'plain' };
  if (state === 'skipped') return { label: `${subject} skipped`, tone: 'plain' };
  if (state === 'success') return { label: `${subject} passed`, tone: 'ok' };
  const tone = state === 'warning' ? 'warn' : 'bad';
  const verb = state === 'warning' ? 'warns' : 'failed';
  return { label: total === 1 ? `Check ${verb}` : `${passed} of ${total} checks passed`, tone };
}
