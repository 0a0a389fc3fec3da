import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { Alarm } from '../delayed/alarm.ts';
import { parseRecurrence } from '../domain/cron/rule.ts';
import type { Envelope } from '../messages/envelope.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { WriteMessages, Recorded } from '../messages/write-messages.ts';
import type { MessageStore } from '../store/messages.ts';
import type { RecurringRow, RecurringStore, ScheduleStep } from '../store/recurring.ts';
import { toDraft, readContent } from './content.ts';
import type { RunErrorCode } from './run-error.ts';

/** Maximum number of schedules run in one commit. */
const batchSize = 200;
/** Seconds after which a run counts as missed. */
const graceSeconds = 60;

export interface RunDependencies {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'commit' | 'log'>;
  readonly store: RecurringStore;
  readonly messages: MessageStore;
  readonly publisher: Pick<Publisher, 'prepare' | 'announce'>;
  readonly writeMessages: WriteMessages;
  readonly reserved: ReadonlySet<string>;
  /** Called after schedules advanced. */
  readonly onChanged: () => void;
}

/** Run of a schedule: the step to the next run and the message, unless it is skipped. */
interface Run {
  readonly step: ScheduleStep;
  readonly key: string;
  readonly recorded: Recorded | undefined;
}

/**
 * Publishes due messages of schedules. The message, its key (schedule and due time) and the step to the next run are
 * one transaction, so that each run happens exactly once.
 */
export class RecurringRuns {
  readonly #dependencies: RunDependencies;
  readonly #alarm: Alarm;

  constructor(dependencies: RunDependencies) {
    this.#dependencies = dependencies;
    this.#alarm = new Alarm({
      context: dependencies.context,
      failureMessage: 'recurring message run failed',
      run: (isOpen) => this.#runAll(isOpen),
    });
  }

  /** Begins to run; the disposal waits for the commit in progress. */
  start(): AsyncDisposable {
    return this.#alarm.start();
  }

  /** Reads the time of the next run: at the start and periodically, because other hosts may share the table. */
  async refresh(): Promise<void> {
    await this.#rewind();
    this.#alarm.expect(await this.#dependencies.store.nextTime());
  }

  /** Schedules a run for this time, in unix seconds. */
  expect(time: number | null): void {
    this.#alarm.expect(time ?? undefined);
  }

  async #runAll(isOpen: () => boolean): Promise<number | undefined> {
    const { store, publisher, onChanged } = this.#dependencies;
    while (isOpen()) {
      const rows = await store.due(this.#now(), batchSize);
      if (rows.length > 0) {
        const envelopes = await this.#run(rows);
        onChanged();
        await publisher.announce(envelopes);
      }
      if (rows.length < batchSize) break;
    }
    return store.nextTime();
  }

  async #run(rows: readonly RecurringRow[]): Promise<readonly Envelope[]> {
    const { context, store, messages, writeMessages } = this.#dependencies;
    const now = this.#now();
    const identities = new Map<string, Identity | undefined>();
    for (const { account } of rows) {
      if (!identities.has(account)) identities.set(account, await this.#identity(account));
    }
    const runs = rows.map((row) => this.#plan(row, now, identities.get(row.account)));
    for (const [index, { step }] of runs.entries()) {
      const { error } = step;
      if (error !== '')
        context.log.warn('recurring message skipped', { id: step.id, topic: rows[index]?.topic, reason: error });
    }
    return context.commit(async (transaction) => {
      const advancedIds = await store.advance(
        transaction,
        runs.map(({ step }) => step),
      );
      const runnable = runs.filter(({ step, recorded }) => recorded !== undefined && advancedIds.has(step.id));
      const newKeys = await messages.claimKeys(
        transaction,
        runnable.map(({ key }) => key),
        now,
      );
      return writeMessages(
        transaction,
        runnable.flatMap(({ key, recorded }) => (recorded !== undefined && newKeys.has(key) ? [recorded] : [])),
      );
    });
  }

  #plan(row: RecurringRow, now: number, identity: Identity | undefined): Run {
    const from = row.next ?? now;
    try {
      const rule = parseRecurrence(row);
      const due = Math.max(from, rule.lastUntil(now) ?? from);
      const step = { id: row.id, from, next: rule.after(now) ?? null, last: due };
      const key = `schedule:${row.id}:${String(due)}`;
      const skipRun = (error: RunErrorCode): Run => ({ step: { ...step, error }, key, recorded: undefined });
      try {
        if (now - due > graceSeconds && row.missed === 'skip') {
          return skipRun('run_missed');
        }
        const refusal = this.#findRefusal(row, identity);
        if (refusal !== undefined) return skipRun(refusal);
        return { step: { ...step, error: '' }, key, recorded: this.#prepare(row) };
      } catch (error) {
        return { step: { ...step, error: getReason(error) }, key, recorded: undefined };
      }
    } catch (error) {
      // A schedule that cannot be read any more must not stay due forever.
      return {
        step: { id: row.id, from, next: null, last: from, error: getReason(error) },
        key: '',
        recorded: undefined,
      };
    }
  }

  #prepare({ topic, content }: RecurringRow): Recorded {
    return this.#dependencies.publisher.prepare(toDraft(topic, readContent(content)));
  }

  /** Returns why the account of a schedule cannot publish; undefined if it can. */
  #findRefusal({ topic }: RecurringRow, identity: Identity | undefined): RunErrorCode | undefined {
    const { context, reserved } = this.#dependencies;
    if (identity === undefined) return 'run_account_missing';
    return reserved.has(topic) || !context.accounts.may(identity, 'push', 'write', topic) ? 'run_denied' : undefined;
  }

  /** Returns the identity of the schedule's account; undefined when it is disabled or deleted. */
  async #identity(name: string): Promise<Identity | undefined> {
    const account = await this.#dependencies.context.accounts.find(name);
    if (account?.enabled !== true) return undefined;
    return { account: name, kind: account.kind, role: account.role, via: 'password' };
  }

  /**
   * Resets schedules after the clock was set back, which would otherwise not run until their last run time has passed.
   * Runs that already happened are not repeated, because their keys were used.
   */
  async #rewind(): Promise<void> {
    const { context, store } = this.#dependencies;
    const now = this.#now();
    const rows = await store.withFutureRun(now + graceSeconds, batchSize);
    if (rows.length === 0) return;
    const changes = rows.map((row) => ({
      id: row.id,
      next: row.enabled === 1 ? (parseRecurrence(row).after(now) ?? null) : null,
    }));
    await context.commit(async (transaction) => {
      for (const { id, next } of changes) await store.change(transaction, id, { next, last: now });
    });
  }

  #now(): number {
    return Math.floor(this.#dependencies.context.clock.now() / 1000);
  }
}

/** @throws errors other than problems, which are defects */
function getReason(error: unknown): string {
  if (error instanceof Problem) return error.detail;
  throw error;
}
