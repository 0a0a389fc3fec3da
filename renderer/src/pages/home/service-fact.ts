import { firstSentence } from '../../../../services/contracts/first-sentence.ts';
import type { ServiceState } from '../../../../services/contracts/control/api.ts';
import type { Pulse } from '../../../../services/contracts/control/overview.ts';
import { formatRestartPending } from '../../state/service-status.ts';

/**
 * Returns the one fact in the row of a service: its status text. Where that is the problem which the page already
 * reports, it is the activity of the last day instead, and without activity the purpose of the service.
 */
export function getFact(
  { state, detail, reason, summary, pendingRestart }: ServiceState,
  { isReported, activity }: { readonly isReported: boolean; readonly activity: Pulse | undefined },
): string {
  if (pendingRestart !== undefined) return formatRestartPending(pendingRestart.transfers);
  if (isReported)
    return activity?.hours.some((count) => count > 0) === true ? activity.total : (firstSentence(summary) ?? summary);
  if ((state === 'degraded' || state === 'failed') && reason !== null) return firstSentence(reason) ?? reason;
  return state === 'up' && detail !== '' ? detail : summary;
}
