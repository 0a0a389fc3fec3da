import { accountsChanged, everyone } from '../../contracts/control/accounts.ts';
import type { ApiHandler } from '../../contracts/api.ts';
import { inboxSeen } from '../../contracts/inbox/api.ts';
import type { Context } from '../../contracts/service.ts';
import { deleteWithAccount } from '../../kit/delete-with-account.ts';
import { Alarm } from '../delayed/alarm.ts';
import { defaultPriority } from '../domain/priority.ts';
import { getInboxKey } from '../publish/inbox-copy.ts';
import type { Recorded } from '../publish/write-messages.ts';
import { quietHandlers } from '../app-api/quiet.ts';
import { QuietStore } from '../store/quiet.ts';
import { WebPushStore } from '../store/web-push.ts';
import type { ReceiverAddresses } from '../web-push/receiver-addresses.ts';
import { mayRead, type BrowserDelivery } from '../web-push/delivery.ts';
import { sendDigests } from './digests.ts';
import { AccountRules } from './account-rules.ts';
import { sendReminders } from './reminders.ts';

const minuteMs = 60_000;

/** How a message is delivered to the browsers of an account. */
export interface DeliveryMode {
  /** Without sound. */
  readonly silent?: true;
  /** Secret that acknowledges the message, which is repeated until then. */
  readonly acknowledge?: string;
  /** Identity of the message if it must be held because quiet hours begin before it is sent. */
  readonly waits?: { readonly sequence: string; readonly key: string };
}

/** Quiet hours: messages are held, summarized or repeated by the rules of accounts. */
export interface QuietHours extends AsyncDisposable {
  readonly handlers: readonly ApiHandler[];
  /**
   * Decides about a message for these accounts in the transaction that stores it, and returns how it is delivered;
   * accounts that are missing get a digest later.
   */
  classify(
    transaction: Context['db'],
    recorded: Pick<Recorded, 'message' | 'text' | 'inbox'>,
    accounts: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, DeliveryMode>>;
  /**
   * Holds a delivery that became due during quiet hours, for example after a network outage; returns false when it may
   * be sent.
   */
  holdBack(account: string | null, delivery: Pick<BrowserDelivery, 'topic' | 'waits'>): Promise<boolean>;
  start(): Promise<Disposable>;
  /**
   * Reloads rules and checks for ended quiet hours. Called every minute, because other hosts may share the tables and
   * the clock may change.
   */
  upkeep(): Promise<void>;
}

export function openQuietHours(context: Context, receiverAddresses: ReceiverAddresses): QuietHours {
  const { bus, clock, commit, log, random } = context;
  const store = new QuietStore(context.db);
  const accountRules = new AccountRules(context, store);
  const dependencies = { context, store, browsers: new WebPushStore(context), accountRules, receiverAddresses };
  /** False while nothing is held or repeated, which saves a query for most messages. */
  let hasEntries = true;
  let expectCount = 0;

  context.metrics.gauge({
    name: 'push_messages_held',
    help: 'Messages that wait for the end of somebody’s quiet.',
    collect: async () => (await store.heldTopics()).reduce((sum, { messages }) => sum + messages, 0),
  });
  const alarm = new Alarm({
    context,
    failureMessage: 'quiet hours digest failed',
    async run() {
      const countBefore = expectCount;
      const stillHeld = await sendDigests(dependencies);
      const reminder = await sendReminders(dependencies);
      // Messages held during the run may not have been seen.
      hasEntries = stillHeld || reminder !== undefined || expectCount !== countBefore;
      const next = Math.min(stillHeld ? nextMinute() : Infinity, reminder ?? Infinity);
      return next === Infinity ? undefined : Math.ceil(next / 1000);
    },
  });
  /** Quiet hours end on full minutes only. */
  const nextMinute = (): number => (Math.floor(clock.now() / minuteMs) + 1) * minuteMs;
  const expect = (time: number): void => {
    hasEntries = true;
    expectCount += 1;
    alarm.expect(Math.ceil(time / 1000));
  };
  const checkNow = (): void => alarm.expect(Math.floor(clock.now() / 1000));

  const removeAccount = async (account: string): Promise<void> => {
    await commit((transaction) => store.removeAccount(transaction, account));
    await accountRules.load();
  };

  return {
    handlers: quietHandlers({
      context,
      store,
      accountRules,
      async onChanged() {
        await accountRules.load();
        checkNow();
      },
    }),

    async classify(transaction, { message, text, inbox }, readers) {
      const { id, topic, event, sequence_id, priority = defaultPriority } = message;
      const sequence = sequence_id ?? id;
      if (hasEntries && (event !== 'message' || sequence_id !== undefined)) {
        await store.supersede(transaction, topic, sequence);
      }
      const modes = new Map<string, DeliveryMode>();
      const now = clock.now();
      for (const account of readers) {
        // A browser may subscribe to all topics, including those its account may not read: nothing is recorded for
        // them.
        const accountJudge = event === 'message' ? accountRules.judge(account) : undefined;
        const judge =
          accountJudge !== undefined && (await mayRead(context, { account }, topic)) ? accountJudge : undefined;
        const outcome = judge?.outcome(topic, priority, now) ?? 'show';
        const heldMessage = { account, topic, sequence, key: getInboxKey(message, inbox) };
        const minutes = priority === 5 ? (judge?.repeatMinutes(topic) ?? 0) : 0;
        if (outcome === 'hold') {
          await store.hold(transaction, [heldMessage]);
          expect(nextMinute());
        } else if (outcome === 'show' && minutes > 0) {
          const due = now + minutes * minuteMs;
          const acknowledge = random.text(32);
          const isRepeated = await store.repeat(transaction, { ...heldMessage, id: acknowledge, text, time: now, due });
          modes.set(account, isRepeated ? { acknowledge } : {});
          expect(due);
        } else {
          // Events that clear or delete are not held.
          const mayWait = event === 'message' && priority === 3 && outcome === 'show';
          const waits = mayWait ? { waits: { sequence, key: heldMessage.key } } : {};
          modes.set(account, outcome === 'quietly' && priority > 2 ? { silent: true } : waits);
        }
      }
      return modes;
    },

    async holdBack(account, { topic, waits }) {
      if (account === null || topic === undefined || waits === undefined) return false;
      if (accountRules.judge(account)?.outcome(topic, 3, clock.now()) !== 'hold') return false;
      await commit((transaction) => store.hold(transaction, [{ account, topic, ...waits }]));
      expect(nextMinute());
      return true;
    },

    async start() {
      const resources = new DisposableStack();
      await accountRules.load();
      resources.use(
        bus.subscribe(inboxSeen, ({ keys }) => {
          if (!hasEntries || keys.length === 0) return;
          commit((transaction) => store.removeRead(transaction, keys)).catch((error: unknown) =>
            log.error('held message removal failed', { error }),
          );
        }),
      );
      resources.use(
        bus.subscribe(accountsChanged, ({ account }) => {
          if (account === everyone) return;
          accountRules.load().catch((error: unknown) => log.error('quiet hours reload failed', { account, error }));
        }),
      );
      resources.use(deleteWithAccount(context, 'rules', removeAccount));
      // Quiet hours that ended while the service was not running are handled now.
      checkNow();
      return resources;
    },

    async upkeep() {
      await accountRules.load();
      checkNow();
    },

    [Symbol.asyncDispose]: () => alarm[Symbol.asyncDispose](),
  };
}
