import type { Context } from '../../contracts/service.ts';
import type { ReceiverAddresses } from '../web-push/receiver-addresses.ts';
import { mayRead, deliverToBrowser, type BrowserDelivery } from '../web-push/delivery.ts';
import { buildDigestText, type TopicCount } from '../domain/digest.ts';
import type { Message } from '../domain/message.ts';
import { buildPushPayload } from '../domain/push-payload.ts';
import type { HeldTopic, QuietStore } from '../store/quiet.ts';
import type { AccountBrowser, WebPushStore } from '../store/web-push.ts';
import type { AccountRules } from './account-rules.ts';

/** All digests of an account share this sequence, so that a later one replaces the earlier one. */
const sequence = 'quiet-digest';

export interface DigestDependencies {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'commit' | 'inHostLanguage' | 'jobs' | 'random'>;
  readonly store: QuietStore;
  readonly browsers: WebPushStore;
  readonly accountRules: AccountRules;
  readonly receiverAddresses: ReceiverAddresses;
}

/**
 * Sends digests to accounts whose quiet hours have ended. Evaluates whether it is quiet now, so that quiet hours that
 * ended while the service was not running, or that a clock change skipped, are handled on the next call. Returns true
 * while messages are still held.
 */
export async function sendDigests(dependencies: DigestDependencies): Promise<boolean> {
  const { context, store, accountRules } = dependencies;
  const heldTopics = await store.heldTopics();
  const now = context.clock.now();
  const ended = heldTopics.filter(
    ({ account, topic }) => accountRules.judge(account)?.outcome(topic, 3, now) !== 'hold',
  );
  for (const account of new Set(ended.map((entry) => entry.account))) {
    const topics = ended.filter((entry) => entry.account === account);
    await context.inHostLanguage(() => sendDigest(dependencies, account, topics));
  }
  return heldTopics.length > ended.length;
}

async function sendDigest(
  dependencies: DigestDependencies,
  account: string,
  topics: readonly HeldTopic[],
): Promise<void> {
  const { context, store, browsers, accountRules } = dependencies;
  const now = context.clock.now();
  const included = new Set<string>();
  for (const { topic } of topics) {
    // Topics silenced in the meantime are left out.
    const silent = accountRules.judge(account)?.outcome(topic, 3, now) === 'quietly';
    if (!silent && (await mayRead(context, { account }, topic))) included.add(topic);
  }
  await context.commit(async (transaction) => {
    const counts: TopicCount[] = [];
    for (const { topic } of topics) {
      const messages = await store.takeHeld(transaction, { account, topic });
      if (messages > 0 && included.has(topic)) counts.push({ topic, messages });
    }
    const deliveries = (await browsers.findByAccount(transaction, account)).flatMap((browser) => {
      const subscribed = counts.filter(({ topic }) => browser.subscribesTo(topic));
      return subscribed.length === 0 ? [] : [{ payload: buildDigest(context, browser, subscribed) }];
    });
    if (deliveries.length > 0) await context.jobs.enqueueAll(transaction, deliverToBrowser, deliveries);
  });
}

function buildDigest(
  { random, clock }: Pick<Context, 'random' | 'clock'>,
  { id, base_url }: AccountBrowser,
  topics: readonly TopicCount[],
): BrowserDelivery {
  const topic = topics[0]?.topic ?? '';
  const message: Message = {
    id: random.text(12),
    sequence_id: sequence,
    time: Math.floor(clock.now() / 1000),
    event: 'message',
    topic,
    ...buildDigestText(topics),
  };
  return {
    browser: id,
    // Uses the topic with the most messages; several topics have no common page.
    payload: buildPushPayload(`${base_url}/${topic}`, message, topics.length > 1 ? { digest: true } : {}),
    topic,
    urgency: 'normal',
    replaces: sequence,
  };
}
