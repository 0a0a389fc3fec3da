import { accountsChanged, everyone } from '../../contracts/control/accounts.ts';
import type { ApiHandler } from '../../contracts/api.ts';
import { inboxSeen } from '../../contracts/inbox/api.ts';
import type { Context } from '../../contracts/service.ts';
import { forgetRemoved } from '../../kit/forget-removed.ts';
import { Alarm } from '../delayed/alarm.ts';
import { defaultPriority } from '../domain/priority.ts';
import { inboxKey } from '../publish/inbox-copy.ts';
import type { Recorded } from '../publish/write-messages.ts';
import { quietHandlers } from '../app-api/quiet.ts';
import { QuietStore } from '../store/quiet.ts';
import { WebPushStore } from '../store/web-push.ts';
import { mayRead, type Delivery } from '../web-push/delivery.ts';
import { tellDigests } from './digests.ts';
import { People } from './account-rules.ts';
import { remindAll } from './reminders.ts';

const minute = 60_000;

/** How a message is to reach a person's browsers now. */
export interface Manner {
  /** Without a sound. */
  readonly silent?: true;
  /** What acknowledges it: it comes again until then. */
  readonly acknowledge?: string;
  /** How it is known should it become quiet before it is out. */
  readonly waits?: { readonly sequence: string; readonly key: string };
}

/** People's rules for what reaches them without asking: what is held back, summed up, repeated. */
export interface Quiet extends AsyncDisposable {
  readonly handlers: readonly ApiHandler[];
  /**
   * Decides about a message for these accounts in the transaction that stores it, and answers how it reaches them now;
   * who is not in the answer gets it summed up later.
   */
  sort(
    transaction: Context['db'],
    recorded: Pick<Recorded, 'message' | 'text' | 'inbox'>,
    accounts: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, Manner>>;
  /** Holds a delivery back that is due while it is quiet, as after a time without a network; false: it may go out. */
  holdBack(account: string | null, delivery: Pick<Delivery, 'topic' | 'waits'>): Promise<boolean>;
  start(): Promise<Disposable>;
  /** Call each minute: others may share the tables, and the clock may have been set. */
  upkeep(): Promise<void>;
}

export function openQuiet(context: Context): Quiet {
  const { bus, clock, commit, log, random } = context;
  const store = new QuietStore(context.db);
  const people = new People(context, store);
  const parts = { context, store, browsers: new WebPushStore(context), people };
  /** False while nothing waits or comes again: most inboxes are read without any of it. */
  let busy = true;
  let expected = 0;

  context.metrics.gauge({
    name: 'push_messages_held',
    help: 'Messages that wait for the end of somebody’s quiet.',
    collect: async () => (await store.heldTopics()).reduce((sum, { messages }) => sum + messages, 0),
  });
  const alarm = new Alarm({
    context,
    failed: 'held messages were not summed up',
    async ring() {
      const before = expected;
      const waits = await tellDigests(parts);
      const reminder = await remindAll(parts);
      // What was held meanwhile may not have been seen.
      busy = waits || reminder !== undefined || expected !== before;
      const next = Math.min(waits ? nextMinute() : Infinity, reminder ?? Infinity);
      return next === Infinity ? undefined : Math.ceil(next / 1000);
    },
  });
  /** Quiet ends on full minutes alone. */
  const nextMinute = (): number => (Math.floor(clock.now() / minute) + 1) * minute;
  const expect = (time: number): void => {
    busy = true;
    expected += 1;
    alarm.expect(Math.ceil(time / 1000));
  };
  const look = (): void => alarm.expect(Math.floor(clock.now() / 1000));

  const forget = async (account: string): Promise<void> => {
    await commit((transaction) => store.removeAccount(transaction, account));
    await people.load();
  };

  return {
    handlers: quietHandlers({
      context,
      store,
      people,
      async changed() {
        await people.load();
        look();
      },
    }),

    async sort(transaction, { message, text, inbox }, readers) {
      const { id, topic, event, sequence_id, priority = defaultPriority } = message;
      const sequence = sequence_id ?? id;
      if (busy && (event !== 'message' || sequence_id !== undefined)) {
        await store.supersede(transaction, topic, sequence);
      }
      const manners = new Map<string, Manner>();
      const now = clock.now();
      for (const account of readers) {
        // A browser may want all topics, also those its person may not read: nothing is noted of them.
        const known = event === 'message' ? people.judge(account) : undefined;
        const judge = known !== undefined && (await mayRead(context, { account }, topic)) ? known : undefined;
        const outcome = judge?.outcome(topic, priority, now) ?? 'show';
        const held = { account, topic, sequence, key: inboxKey(message, inbox) };
        const minutes = priority === 5 ? (judge?.repeatMinutes(topic) ?? 0) : 0;
        if (outcome === 'hold') {
          await store.hold(transaction, [held]);
          expect(nextMinute());
        } else if (outcome === 'show' && minutes > 0) {
          const due = now + minutes * minute;
          const acknowledge = random.text(32);
          const repeats = await store.repeat(transaction, { ...held, id: acknowledge, text, time: now, due });
          manners.set(account, repeats ? { acknowledge } : {});
          expect(due);
        } else {
          // Clearing and deleting are no news.
          const mayWait = event === 'message' && priority === 3 && outcome === 'show';
          const waits = mayWait ? { waits: { sequence, key: held.key } } : {};
          manners.set(account, outcome === 'quietly' && priority > 2 ? { silent: true } : waits);
        }
      }
      return manners;
    },

    async holdBack(account, { topic, waits }) {
      if (account === null || topic === undefined || waits === undefined) return false;
      if (people.judge(account)?.outcome(topic, 3, clock.now()) !== 'hold') return false;
      await commit((transaction) => store.hold(transaction, [{ account, topic, ...waits }]));
      expect(nextMinute());
      return true;
    },

    async start() {
      const open = new DisposableStack();
      await people.load();
      open.use(
        bus.subscribe(inboxSeen, ({ keys }) => {
          if (!busy || keys.length === 0) return;
          commit((transaction) => store.removeRead(transaction, keys)).catch((error: unknown) =>
            log.error('read messages still count as held', { error }),
          );
        }),
      );
      open.use(
        bus.subscribe(accountsChanged, ({ account }) => {
          if (account === everyone) return;
          people.load().catch((error: unknown) => log.error('rules were not read anew', { account, error }));
        }),
      );
      open.use(forgetRemoved(context, 'rules', forget));
      // What ended while nothing ran is told now.
      look();
      return open;
    },

    async upkeep() {
      await people.load();
      look();
    },

    [Symbol.asyncDispose]: () => alarm[Symbol.asyncDispose](),
  };
}
