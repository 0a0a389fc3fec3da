import { accountsChanged, everyone } from '../../contracts/control/accounts.ts';
import { inboxSeen } from '../../contracts/inbox/api.ts';
import type { PushRuleEvaluator } from '../../contracts/push/rules.ts';
import type { Context } from '../../contracts/service.ts';
import { CachedRows } from '../../kit/cached-rows.ts';
import { deleteWithAccount } from '../../kit/delete-with-account.ts';
import { Alarm } from '../delayed/alarm.ts';
import { defaultPriority } from '../domain/priority.ts';
import { getInboxKey } from '../publish/inbox-copy.ts';
import { QuietStore } from '../store/quiet.ts';
import { WebPushStore } from '../store/web-push.ts';
import type { ReceiverAddresses } from '../web-push/receiver-addresses.ts';
import { mayRead, type BrowserDelivery } from '../web-push/delivery.ts';
import type { ClassifiedMessage, DeliveryMode, DeliveryRules } from '../web-push/delivery-rules.ts';
import { sendDigests, type DigestDependencies } from './digests.ts';
import { AccountRules } from './account-rules.ts';
import { sendReminders } from './reminders.ts';

const minuteMs = 60_000;

/** Quiet hours: messages are held, summarized or repeated by the rules of accounts. */
export class QuietHours implements DeliveryRules {
  readonly store: QuietStore;
  readonly accountRules: AccountRules;
  readonly #context: Context;
  readonly #dependencies: DigestDependencies;
  readonly #alarm: Alarm;
  readonly #cachedRows: CachedRows;
  /** False while nothing is held or repeated, which saves a query for most messages. */
  #hasEntries = true;
  #expectCount = 0;

  constructor(context: Context, receiverAddresses: ReceiverAddresses) {
    const store = new QuietStore(context.db);
    const accountRules = new AccountRules(context, store);
    this.#context = context;
    this.store = store;
    this.accountRules = accountRules;
    this.#dependencies = { context, store, browsers: new WebPushStore(context), accountRules, receiverAddresses };
    const { bus, log } = context;
    this.#cachedRows = new CachedRows({ bus, log, rows: 'push.rules', reload: () => this.upkeep() });
    context.metrics.gauge({
      name: 'push_messages_held',
      help: 'Messages that wait for the end of somebody’s quiet.',
      collect: async () => (await store.heldTopics()).reduce((sum, { messages }) => sum + messages, 0),
    });
    this.#alarm = new Alarm({
      context,
      failureMessage: 'quiet hours digest failed',
      run: () => this.#sendDue(),
    });
  }

  async classify(
    transaction: Context['db'],
    recorded: ClassifiedMessage,
    accounts: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, DeliveryMode>> {
    const { id, topic, event, sequence_id } = recorded.message;
    if (this.#hasEntries && (event !== 'message' || sequence_id !== undefined)) {
      await this.store.supersede(transaction, topic, sequence_id ?? id);
    }
    const modes = new Map<string, DeliveryMode>();
    for (const account of accounts) {
      // Events that clear or delete are not held.
      const judge = event === 'message' ? this.accountRules.judge(account) : undefined;
      const mode =
        judge === undefined
          ? buildImmediateMode(recorded)
          : await this.#applyRules(transaction, recorded, account, judge);
      if (mode !== undefined) modes.set(account, mode);
    }
    return modes;
  }

  async holdBack(account: string | null, { topic, waits }: Pick<BrowserDelivery, 'topic' | 'waits'>): Promise<boolean> {
    const { clock, commit } = this.#context;
    if (account === null || topic === undefined || waits === undefined) return false;
    if (this.accountRules.judge(account)?.outcome(topic, 3, clock.now()) !== 'hold') return false;
    await commit((transaction) => this.store.hold(transaction, [{ account, topic, ...waits }]));
    this.#expect(this.#nextMinute());
    return true;
  }

  async start(): Promise<Disposable> {
    const { bus, log } = this.#context;
    const resources = new DisposableStack();
    resources.use(this.#cachedRows.follow());
    await this.accountRules.load();
    resources.use(bus.subscribe(inboxSeen, ({ keys }) => this.#removeRead(keys)));
    resources.use(
      bus.subscribe(accountsChanged, ({ account }) => {
        if (account === everyone) return;
        this.accountRules.load().catch((error: unknown) => log.error('quiet hours reload failed', { account, error }));
      }),
    );
    resources.use(deleteWithAccount(this.#context, 'rules', (account) => this.#removeAccount(account)));
    return resources;
  }

  /** Applies rules that were stored, on all hosts. */
  async handleChangedRules(): Promise<void> {
    this.#cachedRows.changed();
    await this.upkeep();
  }

  /**
   * Begins to send digests and reminders, first for quiet hours that ended while no host did. The disposal waits for
   * the run in progress.
   */
  startDigests(): AsyncDisposable {
    this.#checkNow();
    return this.#alarm.start();
  }

  /**
   * Reloads rules and checks for ended quiet hours. Called every minute, because other hosts may share the tables and
   * the clock may change.
   */
  async upkeep(): Promise<void> {
    await this.accountRules.load();
    this.#checkNow();
  }

  /** Returns how a message is delivered to an account with rules; undefined when it is held. */
  async #applyRules(
    transaction: Context['db'],
    recorded: ClassifiedMessage,
    account: string,
    judge: PushRuleEvaluator,
  ): Promise<DeliveryMode | undefined> {
    const { message, text, inbox } = recorded;
    const { id, topic, sequence_id, priority = defaultPriority } = message;
    // A browser may subscribe to all topics, including those its account may not read: nothing is recorded for them.
    if (!(await mayRead(this.#context, { account }, topic))) return buildImmediateMode(recorded);
    const now = this.#context.clock.now();
    const outcome = judge.outcome(topic, priority, now);
    if (outcome === 'quietly') return priority > 2 ? { silent: true } : {};
    const heldMessage = { account, topic, sequence: sequence_id ?? id, key: getInboxKey(message, inbox) };
    if (outcome === 'hold') {
      await this.store.hold(transaction, [heldMessage]);
      this.#expect(this.#nextMinute());
      return undefined;
    }
    const minutes = priority === 5 ? (judge.repeatMinutes(topic) ?? 0) : 0;
    if (minutes === 0) return buildImmediateMode(recorded);
    const due = now + minutes * minuteMs;
    const acknowledge = this.#context.random.text(32);
    const repeated = { ...heldMessage, id: acknowledge, text, time: now, due };
    const isRepeated = await this.store.repeat(transaction, repeated);
    this.#expect(due);
    return isRepeated ? { acknowledge } : {};
  }

  /** Sends digests and reminders, and returns the time of the next run in unix seconds. */
  async #sendDue(): Promise<number | undefined> {
    const countBefore = this.#expectCount;
    const stillHeld = await sendDigests(this.#dependencies);
    const reminder = await sendReminders(this.#dependencies);
    // Messages held during the run may not have been seen.
    this.#hasEntries =
      !this.#context.singleHost || stillHeld || reminder !== undefined || this.#expectCount !== countBefore;
    const next = Math.min(stillHeld ? this.#nextMinute() : Infinity, reminder ?? Infinity);
    return next === Infinity ? undefined : Math.ceil(next / 1000);
  }

  /** Returns the next full minute, because quiet hours end on full minutes only. */
  #nextMinute(): number {
    return (Math.floor(this.#context.clock.now() / minuteMs) + 1) * minuteMs;
  }

  #expect(time: number): void {
    this.#hasEntries = true;
    this.#expectCount += 1;
    this.#alarm.expect(Math.ceil(time / 1000));
  }

  #checkNow(): void {
    this.#alarm.expect(Math.floor(this.#context.clock.now() / 1000));
  }

  /** Removes held messages that were read in the inbox. */
  #removeRead(keys: readonly string[]): void {
    const { commit, log } = this.#context;
    if (!this.#hasEntries || keys.length === 0) return;
    commit((transaction) => this.store.removeRead(transaction, keys)).catch((error: unknown) =>
      log.error('held message removal failed', { error }),
    );
  }

  async #removeAccount(account: string): Promise<void> {
    await this.#context.commit((transaction) => this.store.removeAccount(transaction, account));
    await this.accountRules.load();
  }
}

/** Returns the mode of a message that is delivered now. One of normal priority may still be held if it becomes due late. */
function buildImmediateMode({ message, inbox }: ClassifiedMessage): DeliveryMode {
  const { id, event, sequence_id, priority = defaultPriority } = message;
  if (event !== 'message' || priority !== 3) return {};
  return { waits: { sequence: sequence_id ?? id, key: getInboxKey(message, inbox) } };
}
