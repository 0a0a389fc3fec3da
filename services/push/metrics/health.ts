import type { Health, SuggestedAction } from '../../contracts/health.ts';
import { firstMessage } from '../../contracts/push/first-message.ts';
import { formatCount } from '../../kit/format-count.ts';
import type { Statistics } from './statistics.ts';

/** Step offered on the overview until a message was published. */
const firstMessageStep: SuggestedAction = {
  label: 'Send a test message',
  to: '/inbox',
  post: { path: '/api/push/messages', body: firstMessage },
};

/** Returns the health of the service: messages published today and open streams. */
export function getHealth(
  canStore: boolean,
  { today, total }: Pick<Statistics, 'today' | 'total'>,
  subscriberCount: number,
): Health {
  if (!canStore) return { state: 'degraded', detail: 'Messages cannot be stored; see the log.' };
  const messages =
    total === 0 ? 'no messages yet' : today === 0 ? 'no messages today' : `${formatCount(today, 'message')} today`;
  const detail = subscriberCount === 0 ? messages : `${messages}, ${String(subscriberCount)} listening`;
  return { state: 'up', detail, ...(total === 0 ? { begin: firstMessageStep } : {}) };
}
