import type { ApiHandler } from '../../contracts/api.ts';
import { everyTopic } from '../../contracts/push/web-push.ts';
import type { Context } from '../../contracts/service.ts';
import { deleteWithAccount } from '../../kit/delete-with-account.ts';
import type { Message } from '../domain/message.ts';
import { defaultPriority } from '../domain/priority.ts';
import { buildPushPayload } from '../domain/push-payload.ts';
import type { DeliveryMode, QuietHours } from '../quiet/quiet-hours.ts';
import type { WriteHook } from '../publish/write-messages.ts';
import type { ApiRoutes } from '../ntfy-api/api-routes.ts';
import { webPushHandlers, webPushRoutes } from '../ntfy-api/web-push.ts';
import { WebPushStore } from '../store/web-push.ts';
import type { ReceiverAddresses } from './receiver-addresses.ts';
import { createDeliveryHandler, deliverToBrowser, type BrowserDelivery } from './delivery.ts';
import { getVapidKeys, type KeyPair } from './vapid.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Inactivity after which a browser is warned, then deleted, as in ntfy. */
const warnAfterMs = 55 * dayMs;
const removeAfterMs = 60 * dayMs;

/** Keys while web push is disabled or not started. */
const noKeys: KeyPair = { publicKey: '', privateKey: '' };

export interface WebPushOptions {
  readonly context: Context;
  /** Returns true while web push is enabled. */
  readonly enabled: () => boolean;
  readonly contact: () => string;
  readonly receiverAddresses: ReceiverAddresses;
  readonly allowedHosts: readonly string[];
  readonly reserved: ReadonlySet<string>;
  readonly keptSeconds: () => number;
  /** Called after each delivery with its result. */
  readonly onDelivered: (topic: string, successful: boolean) => void;
  /** Applies quiet hours to each message. */
  readonly quiet: Pick<QuietHours, 'classify' | 'holdBack'>;
}

/** Web push to browsers. */
export interface WebPush {
  readonly routes: ApiRoutes;
  readonly handlers: readonly ApiHandler[];
  /** Returns the public key for subscriptions; empty when web push is disabled or not started. */
  readonly publicKey: () => string;
  /** Enqueues deliveries in the transaction that stores the messages. */
  readonly store: WriteHook;
  /** Applies a change of `enabled`. */
  reconfigure(): Promise<void>;
  /** Warns and deletes inactive browsers. Called every minute. */
  upkeep(): Promise<void>;
  start(): Promise<Disposable>;
}

export function openWebPush({
  context,
  onDelivered,
  enabled,
  contact,
  receiverAddresses,
  allowedHosts,
  reserved,
  keptSeconds,
  quiet,
}: WebPushOptions): WebPush {
  const { accounts, clock, random, jobs } = context;
  const store = new WebPushStore(context);
  const sent = context.metrics.counter({
    name: 'push_web_push_deliveries_total',
    help: 'Messages to browsers, by what came of them.',
    labels: ['result'],
    initial: [{ result: 'sent' }, { result: 'gone' }, { result: 'failed' }],
  });
  let keys = noKeys;
  /** Cached topics with subscriptions, so that publishing without browsers costs nothing. */
  let subscribedTopics: ReadonlySet<string> = new Set();
  const refresh = async (): Promise<void> => {
    subscribedTopics = new Set(enabled() ? await store.topics() : []);
  };
  const removeAccount = async (account: string): Promise<void> => {
    await store.remove({ column: 'account', value: account });
    await refresh();
  };

  const handler = createDeliveryHandler({
    context,
    store,
    keys: () => keys,
    contact,
    allowedHosts,
    keptSeconds,
    sent,
    quiet,
    onDelivered,
  });
  let isStarted = false;
  let handling: Disposable | undefined;
  /** Starts or stops deliveries. Pending ones are kept and sent when web push is enabled again. */
  const apply = async (): Promise<void> => {
    if (!isStarted || enabled() === (handling !== undefined)) return;
    if (enabled()) {
      const stored = await getVapidKeys(context);
      // Web push may have been disabled while the keys were read.
      if (!enabled()) return;
      keys = stored;
      handling ??= jobs.handle(deliverToBrowser, handler);
    } else {
      keys = noKeys;
      handling?.[Symbol.dispose]();
      handling = undefined;
    }
    await refresh();
  };

  const dependencies = { accounts, store, clock, random, allowedHosts, reserved, onChanged: refresh };
  const publicKey = (): string => keys.publicKey;
  return {
    routes: webPushRoutes({ ...dependencies, enabled, publicUrl: context.publicUrl }),
    handlers: webPushHandlers({ ...dependencies, publicKey }),
    publicKey,

    async store(transaction, recorded) {
      for (const entry of recorded) {
        const { message } = entry;
        if (
          !(subscribedTopics.has(message.topic) || subscribedTopics.has(everyTopic)) ||
          message.event === 'poll_request'
        )
          continue;
        const browsers = await store.findSubscribers(transaction, message.topic);
        const modes = await quiet.classify(
          transaction,
          entry,
          new Set(browsers.flatMap(({ account }) => account ?? [])),
        );
        const deliveries = browsers.flatMap(({ id, base_url, account }) => {
          // Visitors have no quiet hours.
          const mode = account === null ? {} : modes.get(account);
          if (mode === undefined) return [];
          return [
            {
              payload: buildDelivery(receiverAddresses(message, base_url), id, base_url, mode),
              key: `${message.id}:${id}`,
            },
          ];
        });
        if (deliveries.length > 0) await jobs.enqueueAll(transaction, deliverToBrowser, deliveries);
      }
    },

    reconfigure: apply,

    async upkeep() {
      if (!enabled()) return;
      const now = clock.now();
      await context.commit(async (transaction) => {
        const inactive = await store.takeInactive(transaction, now - warnAfterMs);
        const deliveries = inactive.map((id) => ({ payload: buildWarning(id) }));
        if (deliveries.length > 0) await jobs.enqueueAll(transaction, deliverToBrowser, deliveries);
      });
      await store.removeStale(now - removeAfterMs);
      // Another host may have stored a subscription.
      await refresh();
    },

    async start() {
      const resources = new DisposableStack();
      isStarted = true;
      resources.defer(() => {
        isStarted = false;
        handling?.[Symbol.dispose]();
      });
      await apply();
      resources.use(deleteWithAccount(context, 'browsers', removeAccount));
      return resources;
    },
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
