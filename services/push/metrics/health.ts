import type { Health, SuggestedAction } from '../../contracts/health.ts';
import { firstMessage } from '../../contracts/push/first-message.ts';
import { formatCount } from '../../kit/format-count.ts';
import type { Statistics } from './statistics.ts';

/** What Home offers until something was published. */
const sendFirst: SuggestedAction = {
  label: 'Send me a first message',
  to: '/inbox',
  post: { path: '/api/push/messages', body: firstMessage },
};

/** How push is: what was published today, and how many listen. */
export function healthOf(
  stores: boolean,
  { today, total }: Pick<Statistics, 'today' | 'total'>,
  listening: number,
): Health {
  if (!stores) return { state: 'degraded', detail: 'Messages cannot be stored; see the log.' };
  const messages =
    total === 0 ? 'no messages yet' : today === 0 ? 'no messages today' : `${formatCount(today, 'message')} today`;
  const detail = listening === 0 ? messages : `${messages}, ${String(listening)} listening`;
  return { state: 'up', detail, ...(total === 0 ? { begin: sendFirst } : {}) };
}
