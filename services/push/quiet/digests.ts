import type { Context } from '../../contracts/service.ts';
import { mayRead, toBrowser, type Delivery } from '../web-push/delivery.ts';
import { digestOf, type Counted } from '../domain/digest.ts';
import type { Message } from '../domain/message.ts';
import { pushPayload } from '../domain/push-payload.ts';
import type { HeldTopic, QuietStore } from '../store/quiet.ts';
import type { AccountBrowser, WebPushStore } from '../store/web-push.ts';
import type { People } from './account-rules.ts';

/** All digests of a person have this sequence, so that a later one takes the earlier one's place on the screen. */
const sequence = 'quiet-digest';

export interface DigestParts {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'commit' | 'jobs' | 'random'>;
  readonly store: QuietStore;
  readonly browsers: WebPushStore;
  readonly people: People;
}

/**
 * Tells everyone whose quiet has ended what came meanwhile. What decides is whether it is quiet now, so that a quiet
 * that ended while nothing ran, or that the clock jumped over, is summed up as soon as this is called. Answers whether
 * something still waits.
 */
export async function tellDigests(parts: DigestParts): Promise<boolean> {
  const { context, store, people } = parts;
  const held = await store.heldTopics();
  const now = context.clock.now();
  const ended = held.filter(({ account, topic }) => people.judge(account)?.outcome(topic, 3, now) !== 'hold');
  for (const account of new Set(ended.map((each) => each.account))) {
    await tell(
      parts,
      account,
      ended.filter((each) => each.account === account),
    );
  }
  return held.length > ended.length;
}

async function tell(parts: DigestParts, account: string, topics: readonly HeldTopic[]): Promise<void> {
  const { context, store, browsers, people } = parts;
  const now = context.clock.now();
  const told = new Set<string>();
  for (const { topic } of topics) {
    // Made silent since: it is not to be heard now either.
    const silent = people.judge(account)?.outcome(topic, 3, now) === 'quietly';
    if (!silent && (await mayRead(context, { account }, topic))) told.add(topic);
  }
  await context.commit(async (transaction) => {
    const taken: Counted[] = [];
    for (const { topic } of topics) {
      const messages = await store.takeHeld(transaction, { account, topic });
      if (messages > 0 && told.has(topic)) taken.push({ topic, messages });
    }
    const due = (await browsers.findByAccount(transaction, account)).flatMap((browser) => {
      const wanted = taken.filter(({ topic }) => browser.subscribesTo(topic));
      return wanted.length === 0 ? [] : [{ payload: digest(context, browser, wanted) }];
    });
    if (due.length > 0) await context.jobs.enqueueAll(transaction, toBrowser, due);
  });
}

function digest(
  { random, clock }: Pick<Context, 'random' | 'clock'>,
  { id, base_url }: AccountBrowser,
  topics: readonly Counted[],
): Delivery {
  const topic = topics[0]?.topic ?? '';
  const message: Message = {
    id: random.text(12),
    sequence_id: sequence,
    time: Math.floor(clock.now() / 1000),
    event: 'message',
    topic,
    ...digestOf(topics),
  };
  return {
    browser: id,
    // Its topic is the busiest one; several have no page of their own.
    payload: pushPayload(`${base_url}/${topic}`, message, topics.length > 1 ? { digest: true } : {}),
    topic,
    urgency: 'normal',
    replaces: sequence,
  };
}
