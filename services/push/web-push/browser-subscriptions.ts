import type { Accounts } from '../../contracts/control/accounts.ts';
import type { Clock, Random } from '../../contracts/service.ts';
import { everyTopic } from '../../contracts/push/web-push.ts';
import { toNetwork } from '../../kit/network.ts';
import { getEndpointTrust } from '../domain/push-endpoints.ts';
import { refuse } from '../domain/refusals.ts';
import { requireTopic } from '../domain/topics.ts';
import type { Sender } from '../access/limits.ts';
import type { Browser, WebPushStore } from '../store/web-push.ts';
import type { WebPushRequest } from '../wire/web-push.ts';

const maxTopics = 50;
/** Maximum number of browsers per network of visitors, as in ntfy, and per account. */
const maxBrowsers = { stranger: 10, account: 100 };

export interface BrowserSubscriptionDependencies {
  readonly accounts: Accounts;
  readonly store: WebPushStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly allowedHosts: readonly string[];
  readonly reserved: ReadonlySet<string>;
  /** Called after the set of subscribed topics changed. */
  readonly onChanged: () => Promise<void>;
}

/** Subscriptions of browsers to topics. */
export class BrowserSubscriptions {
  readonly #dependencies: BrowserSubscriptionDependencies;

  constructor(dependencies: BrowserSubscriptionDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Stores the subscription of a browser.
   *
   * @throws Problem 40039, 40040, 40301, 42903
   */
  async put(subscription: WebPushRequest, sender: Sender, baseUrl: string): Promise<void> {
    const { accounts, store, clock, random, allowedHosts, reserved, onChanged } = this.#dependencies;
    const { endpoint, auth, p256dh, topics } = subscription;
    // A browser subscription outlives the token, so limited tokens are refused.
    if (sender.identity?.limited === true) throw refuse('forbidden');
    if (getEndpointTrust(endpoint, allowedHosts) === undefined) throw refuse('web_push_endpoint');
    if (topics.length > maxTopics) throw refuse('web_push_topics');
    for (const topic of topics) {
      // Only Homeport's page subscribes to all topics, and each message is checked again before delivery.
      if (topic === everyTopic && sender.identity !== undefined && baseUrl === '') continue;
      requireTopic(topic, reserved);
      if (!accounts.may(sender.identity, 'push', 'read', topic)) throw refuse('forbidden');
    }
    const account = sender.identity?.account ?? null;
    const browser = { id: random.text(16), endpoint, auth, p256dh, account, base_url: baseUrl };
    const limit = account === null ? maxBrowsers.stranger : maxBrowsers.account;
    const network = toNetwork(sender.address);
    if (!(await store.put({ ...browser, network }, topics, clock.now(), limit))) throw refuse('too_many_subscribers');
    await onChanged();
  }

  /** Returns the browser with this endpoint. */
  find(endpoint: string): Promise<Browser | undefined> {
    return this.#dependencies.store.findByEndpoint(endpoint);
  }

  findTopics(endpoint: string): ReturnType<WebPushStore['findTopics']> {
    return this.#dependencies.store.findTopics(endpoint);
  }

  async remove(endpoint: string): Promise<void> {
    const { store, onChanged } = this.#dependencies;
    await store.remove({ column: 'endpoint', value: endpoint });
    await onChanged();
  }
}
