import { deliverToBrowser, type BrowserDelivery } from '../web-push/delivery.ts';
import type { ReceiverAddresses } from '../web-push/receiver-addresses.ts';
import type { Message } from '../domain/message.ts';
import { buildPushPayload } from '../domain/push-payload.ts';
import type { UrgentMessage } from '../store/quiet.ts';
import type { DigestDependencies } from './digests.ts';

const minuteMs = 60_000;
/** Milliseconds after which an unacknowledged message is no longer repeated. */
const maxRepeatMs = 24 * 60 * minuteMs;

/**
 * Repeats urgent messages that were not acknowledged. Returns the time of the next repetition in ms since the epoch;
 * undefined without one.
 */
export async function sendReminders(parts: DigestDependencies): Promise<number | undefined> {
  const { store, accountRules, context } = parts;
  const messages = await store.urgent();
  const now = context.clock.now();
  let next: number | undefined;
  for (const urgent of messages) {
    const intervalMs = (accountRules.judge(urgent.account)?.repeatMinutes(urgent.topic) ?? 0) * minuteMs;
    let { due } = urgent;
    if (intervalMs === 0 || now - urgent.time >= maxRepeatMs) {
      await context.commit((transaction) => store.acknowledge(transaction, urgent.id));
      continue;
    }
    if (due <= now) {
      due = now + intervalMs;
      await sendReminder(parts, urgent, due);
    } else if (due - now > intervalMs) {
      // The clock was set back, or the interval was shortened.
      due = now + intervalMs;
      const wait = due;
      await context.commit((transaction) => store.reschedule(transaction, urgent, wait));
    }
    next = Math.min(next ?? due, due);
  }
  return next;
}

async function sendReminder(
  { context, store, browsers, receiverAddresses }: DigestDependencies,
  urgent: UrgentMessage,
  next: number,
): Promise<void> {
  await context.commit(async (transaction) => {
    if (!(await store.reschedule(transaction, urgent, next))) return;
    const subscribed = (await browsers.findByAccount(transaction, urgent.account)).filter(({ subscribesTo }) =>
      subscribesTo(urgent.topic),
    );
    // No browser is subscribed, so the repetition ends.
    if (subscribed.length === 0) await store.acknowledge(transaction, urgent.id);
    const due = subscribed.map(({ id, base_url }) => ({
      payload: buildReminder(urgent, id, base_url, receiverAddresses),
    }));
    if (due.length > 0) await context.jobs.enqueueAll(transaction, deliverToBrowser, due);
  });
}

function buildReminder(
  { id, topic, sequence, text }: UrgentMessage,
  browser: string,
  baseUrl: string,
  receiverAddresses: ReceiverAddresses,
): BrowserDelivery {
  const message = receiverAddresses(JSON.parse(text) as Message, baseUrl);
  return {
    browser,
    payload: buildPushPayload(`${baseUrl}/${topic}`, message, { acknowledge: id }),
    topic,
    urgency: 'high',
    replaces: `${topic} ${sequence}`,
  };
}
