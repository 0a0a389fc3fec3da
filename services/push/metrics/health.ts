import * as m from '#messages/push-texts';
import type { Health, ServiceAction } from '../../contracts/health.ts';
import { firstMessage } from '../../contracts/push/first-message.ts';
import type { Statistics } from './statistics.ts';

/** Step offered on the overview until a message was published. */
const firstMessageStep: ServiceAction = {
  label: m.sendTestMessage,
  to: '/inbox',
  post: { path: '/api/push/messages', body: firstMessage },
};

/** Returns the health of the service: messages published today and open streams. */
export function getHealth(
  canStore: boolean,
  { today, total }: Pick<Statistics, 'today' | 'total'>,
  subscriberCount: number,
): Health {
  if (!canStore) return { state: 'degraded', detail: m.cannotStore };
  const formatMessages = (): string => {
    if (total === 0) return m.noMessagesYet();
    return today === 0 ? m.noMessagesToday() : m.messagesToday({ count: today });
  };
  const detail = (): string =>
    subscriberCount === 0
      ? formatMessages()
      : m.messagesAndSubscribers({ messages: formatMessages(), count: subscriberCount });
  return { state: 'up', detail, ...(total === 0 ? { begin: firstMessageStep } : {}) };
}
