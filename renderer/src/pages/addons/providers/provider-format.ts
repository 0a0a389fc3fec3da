import * as m from '#messages/addons';
import type { ProviderHealthView } from '../../../../../services/contracts/addons/api.ts';
import { formatElapsed } from '../../../parts/text/format.ts';

/** Checks for a provider that is suspended after repeated failures; `now` is in ms since the epoch. */
export function isSuspended({ disabledUntil }: ProviderHealthView, now: number): boolean {
  return disabledUntil !== null && disabledUntil > now;
}

/** Returns label and tone of the status of a debrid service. */
export function getProviderStatus(
  provider: ProviderHealthView,
  now: number,
): { readonly text: string; readonly tone: 'ok' | 'warn' | 'bad' } {
  const { successRate } = provider;
  if (isSuspended(provider, now)) return { text: m.leftAlone(), tone: 'bad' };
  if (successRate !== null && successRate < 0.1) return { text: m.fails(), tone: 'bad' };
  return successRate !== null && successRate < 0.9
    ? { text: m.failsAtTimes(), tone: 'warn' }
    : { text: m.works(), tone: 'ok' };
}

/** Describes the response time and success rate of a debrid service. */
export function describeProvider({ responseMs, successRate }: ProviderHealthView): string {
  if (successRate === 0) return m.providerFails();
  if (responseMs === null) return m.providerNotAnswered();
  const duration = formatElapsed(responseMs);
  if (successRate === null) return m.providerAnswers({ duration });
  if (successRate === 1) return m.providerAllSucceeded({ duration });
  return m.providerPartlySucceeds({ duration, share: Math.round(successRate * 100) });
}

/** Describes the number of requests and failures. */
export function describeRequests({ requests, failures }: ProviderHealthView): string {
  return failures === 0 ? m.allRequestsSucceeded({ count: requests }) : m.someRequestsFailed({ requests, failures });
}
