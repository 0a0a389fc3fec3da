import type { MonitorRow } from '../../../../services/contracts/uptime/views.ts';
import { causeWords } from './monitor-format.ts';

/** A certificate that ends within so many days is renewed by somebody now, or by nobody. */
const soonDays = 14;

/** What somebody should do something about, the gravest first; undefined for one that needs nobody. */
function troubleOf({ active, state, target }: MonitorRow): { readonly rank: number; readonly why: string } | undefined {
  if (!active) return undefined;
  if (state.status === 0) return { rank: 0, why: state.msg ? causeWords(state.msg) : target };
  if (state.flapping === true) return { rank: 1, why: 'It goes down and comes back again and again.' };
  if (state.degraded === true) return { rank: 2, why: 'It answers, but slower than usual.' };
  if (state.certDays === undefined || state.certDays > soonDays) return undefined;
  return {
    rank: 3,
    why: `Its certificate ends in ${String(state.certDays)} ${state.certDays === 1 ? 'day' : 'days'}.`,
  };
}

/** Why a monitor needs somebody, as a sentence; empty where it does not. */
export function whyOf(monitor: MonitorRow): string {
  return troubleOf(monitor)?.why ?? '';
}

/** What needs somebody comes first, what is paused last; else by name. */
export function byUrgency(a: MonitorRow, b: MonitorRow): number {
  return urgency(a) - urgency(b) || a.name.localeCompare(b.name) || a.id - b.id;
}

function urgency(monitor: MonitorRow): number {
  const { active, state } = monitor;
  if (!active) return 6;
  return troubleOf(monitor)?.rank ?? (state.status === 1 ? 5 : 4);
}
