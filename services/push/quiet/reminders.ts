import { toBrowser, type Delivery } from '../web-push/delivery.ts';
import type { Message } from '../domain/message.ts';
import { pushPayload } from '../domain/push-payload.ts';
import type { UrgentMessage } from '../store/quiet.ts';
import type { DigestParts } from './digests.ts';

const minute = 60_000;
/** Who did not answer for so long is not at hand. */
const longest = 24 * 60 * minute;

/**
 * Sends urgent messages once more that nobody has acknowledged. Answers when the next is due, in ms since the epoch;
 * undefined when none is.
 */
export async function remindAll(parts: DigestParts): Promise<number | undefined> {
  const { store, people, context } = parts;
  const all = await store.urgent();
  const now = context.clock.now();
  let next: number | undefined;
  for (const urgent of all) {
    const every = (people.judge(urgent.account)?.repeatMinutes(urgent.topic) ?? 0) * minute;
    let { due } = urgent;
    if (every === 0 || now - urgent.time >= longest) {
      await context.commit((transaction) => store.acknowledge(transaction, urgent.id));
      continue;
    }
    if (due <= now) {
      due = now + every;
      await remind(parts, urgent, due);
    } else if (due - now > every) {
      // The clock was set back, or the wait made shorter.
      due = now + every;
      const wait = due;
      await context.commit((transaction) => store.reschedule(transaction, urgent, wait));
    }
    next = Math.min(next ?? due, due);
  }
  return next;
}

async function remind({ context, store, browsers }: DigestParts, urgent: UrgentMessage, next: number): Promise<void> {
  await context.commit(async (transaction) => {
    if (!(await store.reschedule(transaction, urgent, next))) return;
    const wanting = (await browsers.findByAccount(transaction, urgent.account)).filter(({ subscribesTo: wants }) =>
      wants(urgent.topic),
    );
    // Nobody is there to be told: a browser that comes later begins with what comes later.
    if (wanting.length === 0) await store.acknowledge(transaction, urgent.id);
    const due = wanting.map(({ id, base_url }) => ({ payload: again(urgent, id, base_url) }));
    if (due.length > 0) await context.jobs.enqueueAll(transaction, toBrowser, due);
  });
}

function again({ id, topic, sequence, text }: UrgentMessage, browser: string, baseUrl: string): Delivery {
  const message = JSON.parse(text) as Message;
  return {
    browser,
    payload: pushPayload(`${baseUrl}/${topic}`, message, { acknowledge: id }),
    topic,
    urgency: 'high',
    replaces: `${topic} ${sequence}`,
  };
}
