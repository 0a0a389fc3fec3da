import type { ApiHandler } from '../../contracts/api.ts';
import { everyTopic } from '../../contracts/push/web-push.ts';
import type { Context } from '../../contracts/service.ts';
import { forgetRemoved } from '../../kit/forget-removed.ts';
import type { Message } from '../domain/message.ts';
import { defaultPriority } from '../domain/priority.ts';
import { pushPayload } from '../domain/push-payload.ts';
import type { Manner, Quiet } from '../quiet/quiet-hours.ts';
import type { AlsoStore } from '../publish/write-messages.ts';
import type { ApiRoutes } from '../ntfy-api/api-routes.ts';
import { webPushHandlers, webPushRoutes } from '../ntfy-api/web-push.ts';
import { WebPushStore } from '../store/web-push.ts';
import { deliverTo, toBrowser, type Delivery } from './delivery.ts';
import { vapidKeys, type KeyPair } from './vapid.ts';

const day = 24 * 60 * 60 * 1000;
/** As at the peer: a browser that did not come back for so long is warned, then forgotten. */
const fadesAfter = 55 * day;
const endsAfter = 60 * day;

export interface WebPushOptions {
  readonly context: Context;
  readonly enabled: boolean;
  readonly contact: () => string;
  readonly allowed: readonly string[];
  readonly reserved: ReadonlySet<string>;
  readonly keptSeconds: () => number;
  /** Hears of each message to a browser, whether it was sent. */
  readonly told: (topic: string, done: boolean) => void;
  /** Decides about each message for each person. */
  readonly quiet: Pick<Quiet, 'sort' | 'holdBack'>;
}

/** Messages to browsers whose page is closed. */
export interface WebPush {
  readonly routes: ApiRoutes;
  readonly handlers: readonly ApiHandler[];
  /** What a browser subscribes with; empty while web push is off or not started. */
  readonly publicKey: () => string;
  /** Enqueues the deliveries of messages in the transaction that stores them. */
  readonly store: AlsoStore;
  /** Call each minute. */
  upkeep(): Promise<void>;
  start(): Promise<Disposable>;
}

export function openWebPush({
  context,
  told,
  enabled,
  contact,
  allowed,
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
  let keys: KeyPair = { publicKey: '', privateKey: '' };
  /** Asked for each message, so that a publish without browsers costs nothing. */
  let wanted: ReadonlySet<string> = new Set();
  const refresh = async (): Promise<void> => {
    wanted = new Set(await store.topics());
  };
  const forget = async (account: string): Promise<void> => {
    await store.remove({ column: 'account', value: account });
    await refresh();
  };

  const parts = { accounts, store, clock, random, allowed, reserved, changed: refresh };
  const publicKey = (): string => keys.publicKey;
  return {
    routes: enabled ? webPushRoutes(parts) : {},
    handlers: webPushHandlers({ ...parts, publicKey }),
    publicKey,

    async store(transaction, recorded) {
      for (const each of recorded) {
        const { message } = each;
        if (!(wanted.has(message.topic) || wanted.has(everyTopic)) || message.event === 'poll_request') continue;
        const browsers = await store.findSubscribers(transaction, message.topic);
        const manners = await quiet.sort(transaction, each, new Set(browsers.flatMap(({ account }) => account ?? [])));
        const due = browsers.flatMap(({ id, base_url, account }) => {
          // A stranger has no rules.
          const manner = account === null ? {} : manners.get(account);
          if (manner === undefined) return [];
          return [{ payload: deliveryOf(message, id, base_url, manner), key: `${message.id}:${id}` }];
        });
        if (due.length > 0) await jobs.enqueueAll(transaction, toBrowser, due);
      }
    },

    async upkeep() {
      if (!enabled) return;
      const now = clock.now();
      await context.commit(async (transaction) => {
        const fading = await store.takeInactive(transaction, now - fadesAfter);
        const due = fading.map((id) => ({ payload: warning(id) }));
        if (due.length > 0) await jobs.enqueueAll(transaction, toBrowser, due);
      });
      await store.removeStale(now - endsAfter);
      // Another host may have taken a subscription.
      await refresh();
    },

    async start() {
      const open = new DisposableStack();
      if (!enabled) return open;
      keys = await vapidKeys(context);
      await refresh();
      open.use(
        jobs.handle(
          toBrowser,
          deliverTo({ context, store, keys: () => keys, contact, allowed, keptSeconds, sent, quiet, told }),
        ),
      );
      open.use(forgetRemoved(context, 'browsers', forget));
      return open;
    },
  };
}

function deliveryOf(message: Message, browser: string, baseUrl: string, manner: Manner): Delivery {
  const priority = message.priority ?? defaultPriority;
  const { waits, ...beside } = manner;
  return {
    browser,
    payload: pushPayload(`${baseUrl}/${message.topic}`, message, beside),
    topic: message.topic,
    urgency: priority <= 2 || manner.silent ? 'low' : priority >= 4 ? 'high' : 'normal',
    replaces: `${message.topic} ${message.sequence_id ?? message.id}`,
    ...(waits === undefined ? {} : { waits }),
  };
}

function warning(browser: string): Delivery {
  return { browser, payload: JSON.stringify({ event: 'subscription_expiring' }), urgency: 'low' };
}
