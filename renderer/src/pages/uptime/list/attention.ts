import * as m from '#messages/uptime';
import type { MonitorRow } from '../../../../../services/contracts/uptime/views.ts';
import { compareNames } from '../../../../../services/contracts/compare-names.ts';
import { formatCause } from '../monitors/monitor-format.ts';

/** Remaining days of a certificate from which on it needs attention: automatic renewals happen earlier. */
const certificateWarningDays = 14;

/** Finds the most severe problem of a monitor; undefined when it needs no attention. */
function findProblem({
  active,
  state,
  target,
}: MonitorRow): { readonly rank: number; readonly reason: string } | undefined {
  if (!active) return undefined;
  if (state.status === 0) return { rank: 0, reason: state.msg ? formatCause({ ...state, msg: state.msg }) : target };
  if (state.flapping === true) return { rank: 1, reason: m.isFlapping() };
  if (state.degraded === true) return { rank: 2, reason: m.isSlow() };
  if (state.certDays === undefined || state.certDays > certificateWarningDays) return undefined;
  return {
    rank: 3,
    reason: m.certificateEnds({ count: state.certDays }),
  };
}

/** Returns the problem of a monitor as a sentence, or an empty string. */
export function getProblemText(monitor: MonitorRow): string {
  return findProblem(monitor)?.reason ?? '';
}

/** Compares monitors by urgency, then by name; paused ones come last. */
export function compareUrgency(a: MonitorRow, b: MonitorRow): number {
  return getUrgency(a) - getUrgency(b) || compareNames(a.name, b.name) || a.id - b.id;
}

function getUrgency(monitor: MonitorRow): number {
  const { active, state } = monitor;
  if (!active) return 6;
  return findProblem(monitor)?.rank ?? (state.status === 1 ? 5 : 4);
}
