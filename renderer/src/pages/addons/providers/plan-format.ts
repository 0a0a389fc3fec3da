import * as m from '#messages/addons';
import type { DebridPlan } from '../../../../../services/contracts/addons/api.ts';
import { planWarningMs } from '../../../../../services/contracts/addons/plan-warning.ts';
import { formatDay } from '../../../parts/text/format.ts';

const dayMs = 24 * 3_600_000;

/** Badge of an account's plan, whose tone tells when it ends. */
export interface PlanBadge {
  readonly text: string;
  readonly tone: 'plain' | 'warn' | 'bad';
}

/** Formats the end of a plan; undefined when the service reports none. */
export function formatPlan({ plan, endsAt }: DebridPlan, now: number): PlanBadge | undefined {
  if (endsAt === null) return plan === 'expired' ? { text: m.noPaidPlan(), tone: 'warn' } : undefined;
  if (endsAt <= now) return { text: m.planEndedOn({ date: formatDay(endsAt) }), tone: 'bad' };
  if (endsAt - now > planWarningMs) return { text: m.planUntil({ date: formatDay(endsAt) }), tone: 'plain' };
  return { text: m.planEndsIn({ count: Math.ceil((endsAt - now) / dayMs) }), tone: 'warn' };
}
