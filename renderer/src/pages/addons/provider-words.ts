import type { ProviderHealthView } from '../../../../services/contracts/addons/api.ts';
import { formatElapsed } from '../../parts/text/format.ts';

/** Whether it is left alone at `now`, ms since the epoch, since it failed again and again. */
export function isLeftAlone({ disabledUntil }: ProviderHealthView, now: number): boolean {
  return disabledUntil !== null && disabledUntil > now;
}

/** How a debrid service is doing, in one word. */
export function providerState(
  provider: ProviderHealthView,
  now: number,
): { readonly text: string; readonly tone: 'ok' | 'warn' | 'bad' } {
  const { successRate } = provider;
  if (isLeftAlone(provider, now)) return { text: 'Left alone', tone: 'bad' };
  if (successRate !== null && successRate < 0.1) return { text: 'Fails', tone: 'bad' };
  return successRate !== null && successRate < 0.9
    ? { text: 'Fails at times', tone: 'warn' }
    : { text: 'Works', tone: 'ok' };
}

/** How fast it answers, and how often. */
export function providerWords({ responseMs, successRate }: ProviderHealthView): string {
  if (successRate === 0) return 'None of the last requests succeeded.';
  if (responseMs === null) return 'It has not answered yet.';
  const answers = `It answers in ${formatElapsed(responseMs)}`;
  if (successRate === null) return `${answers}.`;
  const all = 'the last requests all succeeded';
  return `${answers}; ${successRate === 1 ? all : `${String(Math.round(successRate * 100))} % of requests succeed`}.`;
}

/** How many requests it was sent, and what came of them. */
export function requestWords({ requests, failures }: ProviderHealthView): string {
  const sent = requests.toLocaleString('en');
  if (failures === 0) return requests === 1 ? '1, which succeeded' : `${sent}, all succeeded`;
  return `${sent}, of which ${failures.toLocaleString('en')} failed`;
}
