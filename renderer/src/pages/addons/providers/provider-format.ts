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
  if (isSuspended(provider, now)) return { text: 'Left alone', tone: 'bad' };
  if (successRate !== null && successRate < 0.1) return { text: 'Fails', tone: 'bad' };
  return successRate !== null && successRate < 0.9
    ? { text: 'Fails at times', tone: 'warn' }
    : { text: 'Works', tone: 'ok' };
}

/** Describes the response time and success rate. */
export function describeProvider({ responseMs, successRate }: ProviderHealthView): string {
  if (successRate === 0) return 'None of the last requests succeeded.';
  if (responseMs === null) return 'It has not answered yet.';
  const answers = `It answers in ${formatElapsed(responseMs)}`;
  if (successRate === null) return `${answers}.`;
  const allSucceeded = 'the last requests all succeeded';
  return `${answers}; ${successRate === 1 ? allSucceeded : `${String(Math.round(successRate * 100))} % of requests succeed`}.`;
}

/** Describes the number of requests and failures. */
export function describeRequests({ requests, failures }: ProviderHealthView): string {
  const sent = requests.toLocaleString('en');
  if (failures === 0) return requests === 1 ? '1, which succeeded' : `${sent}, all succeeded`;
  return `${sent}, of which ${failures.toLocaleString('en')} failed`;
}
