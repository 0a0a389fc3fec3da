import * as m from '#messages/git-code';
import type { GitChecks } from '../../../../../services/contracts/git/api.ts';

/** Formats the combined result of a commit's checks: `Checks passed`, `1 of 3 checks passed`, `Checks running`. */
export function formatChecks({ state, passed, total }: GitChecks): {
  readonly label: string;
  readonly tone: 'ok' | 'warn' | 'bad' | 'plain';
} {
  if (state === 'pending') return { label: m.checksRunning({ total }), tone: 'plain' };
  if (state === 'skipped') return { label: m.checksSkipped({ total }), tone: 'plain' };
  if (state === 'success') return { label: m.checksPassed({ total }), tone: 'ok' };
  const isWarning = state === 'warning';
  const tone = isWarning ? 'warn' : 'bad';
  if (total !== 1) return { label: m.someChecksPassed({ passed, total }), tone };
  return { label: isWarning ? m.checkWarns() : m.checkFailed(), tone };
}
