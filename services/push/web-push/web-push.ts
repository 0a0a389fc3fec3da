import { everyTopic } from '../../contracts/push/web-push.ts';
import type { Context } from '../../contracts/service.ts';
import { deleteWithAccount } from '../../kit/delete-with-account.ts';
import type { Message } from '../domain/message.ts';
import { defaultPriority } from '../domain/priority.ts';
import { buildPushPayload } from '../domain/push-payload.ts';
import type { Recorded, WriteHook } from '../messages/write-messages.ts';
import type { Settings } from '../settings.ts';
import type { DerivedSettings } from '../settings/derived-settings.ts';
import type { TopicPreferences } from '../../contracts/push/topic-preferences.ts';
import { TopicPreferenceStore } from '../store/topic-preferences.ts';
import { WebPushStore } from '../store/web-push.ts';
import type { ReceiverAddresses } from './receiver-addresses.ts';
import { BrowserSubscriptions } from './browser-subscriptions.ts';
import { createDeliveryHandler, deliverToBrowser, type BrowserDelivery } from './delivery.ts';
import type { DeliveryMode, DeliveryRules } from './delivery-rules.ts';
import { getVapidKeys, type KeyPair } from './vapid.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Inactivity after which a browser is warned, then deleted, as in ntfy. */
const warnAfterMs = 55 * dayMs;
const removeAfterMs = 60 * dayMs;

/** Keys while web push is disabled or not started. */
const noKeys: KeyPair = { publicKey: '', privateKey: '' };

export interface WebPushOptions {
  readonly context: Context;
  readonly settings: Readonly<Pick<Settings, 'webPush' | 'webPushContact'>>;
  readonly derivedSettings: Pick<DerivedSettings, 'cacheSeconds' | 'reservedTopics' | 'webPushHosts'>;
  readonly receiverAddresses: ReceiverAddresses;
  /** Applies quiet hours to each message. */
  readonly quietHours: DeliveryRules;
  /** Called after each delivery with its result. */
  readonly onDelivered: (topic: string, successful: boolean) => void;
}

/** Web push to browsers. */
export class WebPush {
  readonly subscriptions: BrowserSubscriptions;
  /** Returns the public key for subscriptions; empty when web push is disabled or not started. */
  readonly publicKey: () => string;
  /** Enqueues deliveries in the transaction that stores the messages. */
  readonly store: WriteHook;
  readonly #options: WebPushOptions;
  readonly #browsers: WebPushStore;
  readonly #preferences: TopicPreferenceStore;
  readonly #handler: ReturnType<typeof createDeliveryHandler>;
  #keys = noKeys;
  /** Cached topics with subscriptions, so that publishing without browsers costs nothing. */
  #subscribedTopics: ReadonlySet<string> = new Set();
  #isStarted = false;
  #handling: Disposable | undefined;

  constructor(options: WebPushOptions) {
    const { context, derivedSettings, onDelivered, quietHours, settings } = options;
    const { cacheSeconds, reservedTopics: reserved, webPushHosts: allowedHosts } = derivedSettings;
    const { accounts, clock, random } = context;
    const store = new WebPushStore(context);
    const sent = context.metrics.counter({
      name: 'push_web_push_deliveries_total',
      help: 'Messages to browsers, by what came of them.',
      labels: ['result'],
      initial: [{ result: 'sent' }, { result: 'gone' }, { result: 'failed' }],
    });
    this.#options = options;
    this.#browsers = store;
    this.#preferences = new TopicPreferenceStore(context);
    this.#handler = createDeliveryHandler({
      context,
      store,
      sender: { keys: () => this.#keys, contact: () => settings.webPushContact },
      allowedHosts,
      keptSeconds: cacheSeconds,
      sent,
      quiet: quietHours,
      onDelivered,
    });
    this.subscriptions = new BrowserSubscriptions({
      accounts,
      store,
      clock,
      random,
      allowedHosts,
      reserved,
      onChanged: () => this.#refresh(),
    });
    this.publicKey = () => this.#keys.publicKey;
    this.store = (transaction, recorded) => this.#enqueue(transaction, recorded);
  }

  get isEnabled(): boolean {
    return this.#options.settings.webPush;
  }

  async start(): Promise<Disposable> {
    const resources = new DisposableStack();
    this.#isStarted = true;
    resources.defer(() => {
      this.#isStarted = false;
      this.#handling?.[Symbol.dispose]();
    });
    await this.reconfigure();
    resources.use(deleteWithAccount(this.#options.context, 'browsers', (account) => this.#removeAccount(account)));
    return resources;
  }

  /**
   * Applies a change of `enabled`: starts or stops deliveries. Pending ones are kept and sent when web push is enabled
   * again.
   */
  async reconfigure(): Promise<void> {
    const { context } = this.#options;
    if (!this.#isStarted || this.isEnabled === (this.#handling !== undefined)) return;
    if (this.isEnabled) {
      const stored = await getVapidKeys(context);
      // Web push may have been disabled while the keys were read.
      if (!this.isEnabled) return;
      this.#keys = stored;
      this.#handling ??= context.jobs.handle(deliverToBrowser, this.#handler);
    } else {
      this.#keys = noKeys;
      this.#handling?.[Symbol.dispose]();
      this.#handling = undefined;
    }
    await this.#refresh();
  }

  /** Warns and deletes inactive browsers. Called every minute. */
  async upkeep(): Promise<void> {
    const { context } = this.#options;
    if (!this.isEnabled) return;
    const now = context.clock.now();
    await context.commit(async (transaction) => {
      const inactive = await this.#browsers.takeInactive(transaction, now - warnAfterMs);
      const deliveries = inactive.map((id) => ({ payload: buildWarning(id) }));
      if (deliveries.length > 0) await context.jobs.enqueueAll(transaction, deliverToBrowser, deliveries);
    });
    await this.#browsers.removeStale(now - removeAfterMs);
    // Another host may have stored a subscription.
    await this.#refresh();
  }

  async #enqueue(transaction: Context['db'], recorded: readonly Recorded[]): Promise<void> {
    const { context, quietHours, receiverAddresses } = this.#options;
    for (const entry of recorded) {
      const { message } = entry;
      const isSubscribed = this.#subscribedTopics.has(message.topic) || this.#subscribedTopics.has(everyTopic);
      if (!isSubscribed || message.event === 'poll_request') continue;
      const browsers = await this.#browsers.findSubscribers(transaction, message.topic);
      const accounts = new Set(browsers.flatMap(({ account }) => account ?? []));
      const modes = await quietHours.classify(transaction, entry, accounts);
      const preferences = await this.#preferences.listForTopic(transaction, message.topic, [...accounts]);
      const deliveries = browsers.flatMap(({ id, base_url, account }) => {
        // Visitors have no quiet hours.
        const mode = account === null ? {} : modes.get(account);
        if (mode === undefined) return [];
        return [
          {
            payload: buildDelivery(receiverAddresses(message, base_url), id, base_url, {
              ...mode,
              ...toDeliveryOptions(preferences.get(account ?? '')),
            }),
            key: `${message.id}:${id}`,
          },
        ];
      });
      if (deliveries.length > 0) await context.jobs.enqueueAll(transaction, deliverToBrowser, deliveries);
    }
  }

  async #refresh(): Promise<void> {
    this.#subscribedTopics = new Set(this.isEnabled ? await this.#browsers.topics() : []);
  }

  async #removeAccount(account: string): Promise<void> {
    await this.#browsers.remove({ column: 'account', value: account });
    await this.#refresh();
  }
}

/** Returns the display name and the silence that an account has set for a topic. */
function toDeliveryOptions({ displayName = '', sound }: Partial<TopicPreferences> = {}): DeliveryMode {
  return {
    ...(displayName === '' ? {} : { displayName }),
    ...(sound === 'silent' ? { silent: true } : {}),
  };
}

function buildDelivery(message: Message, browser: string, baseUrl: string, mode: DeliveryMode): BrowserDelivery {
  const priority = message.priority ?? defaultPriority;
  const { waits, ...options } = mode;
  return {
    browser,
    payload: buildPushPayload(`${baseUrl}/${message.topic}`, message, options),
    topic: message.topic,
    urgency: priority <= 2 || mode.silent ? 'low' : priority >= 4 ? 'high' : 'normal',
    replaces: `${message.topic} ${message.sequence_id ?? message.id}`,
    ...(waits === undefined ? {} : { waits }),
  };
}

function buildWarning(browser: string): BrowserDelivery {
  return { browser, payload: JSON.stringify({ event: 'subscription_expiring' }), urgency: 'low' };
}
