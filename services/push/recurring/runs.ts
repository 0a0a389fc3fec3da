import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { Alarm } from '../delayed/alarm.ts';
import { readRule } from '../domain/cron/rule.ts';
import type { Envelope } from '../subscribe/envelope.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { WriteMessages, Recorded } from '../publish/write-messages.ts';
import type { MessageStore } from '../store/messages.ts';
import type { RecurringRow, RecurringStore, ScheduleStep } from '../store/recurring.ts';
import { draftOfRun, readContent } from './content.ts';

/** Schedules that one commit runs at most. */
const batch = 200;
/** Seconds: a run that is later than this was missed. */
const grace = 60;

export interface RunParts {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'commit' | 'log'>;
  readonly store: RecurringStore;
  readonly messages: MessageStore;
  readonly publisher: Pick<Publisher, 'prepare' | 'announce'>;
  readonly record: WriteMessages;
  readonly reserved: ReadonlySet<string>;
  /** Schedules have moved on. */
  readonly changed: () => void;
}

/** One run of a schedule: the step to the next, and the message, if there is to be one. */
interface Run {
  readonly step: ScheduleStep;
  readonly key: string;
  readonly recorded: Recorded | undefined;
}

/**
 * Publishes what schedules have due. The message, its key (the schedule and the time it was due) and the step to the
 * next run are one transaction, so that each time counts once, whatever happens in between.
 */
export class RecurringRuns implements AsyncDisposable {
  readonly #parts: RunParts;
  readonly #alarm: Alarm;

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#alarm = new Alarm({
      context: parts.context,
      failed: 'schedules did not run',
      ring: (going) => this.#runAll(going),
    });
  }

  /** Reads when the next run is due: at the start, and now and then, since others may share the table. */
  async look(): Promise<void> {
    await this.#rewind();
    this.#alarm.expect(await this.#parts.store.nextTime());
  }

  /** A run is due at this time, in unix seconds. */
  expect(time: number | null): void {
    this.#alarm.expect(time ?? undefined);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#alarm[Symbol.asyncDispose]();
  }

  async #runAll(going: () => boolean): Promise<number | undefined> {
    const { store, publisher, changed } = this.#parts;
    while (going()) {
      const rows = await store.due(this.#now(), batch);
      if (rows.length > 0) {
        const out = await this.#run(rows);
        changed();
        await publisher.announce(out);
      }
      if (rows.length < batch) break;
    }
    return store.nextTime();
  }

  async #run(rows: readonly RecurringRow[]): Promise<readonly Envelope[]> {
    const { context, store, messages, record } = this.#parts;
    const now = this.#now();
    const identities = new Map<string, Identity | undefined>();
    for (const { account } of rows) {
      if (!identities.has(account)) identities.set(account, await this.#identity(account));
    }
    const runs = rows.map((row) => this.#plan(row, now, identities.get(row.account)));
    for (const [index, { step }] of runs.entries()) {
      const { trouble } = step;
      if (trouble !== '')
        context.log.warn('a schedule published nothing', { id: step.id, topic: rows[index]?.topic, trouble });
    }
    return context.commit(async (transaction) => {
      const moved = await store.advance(
        transaction,
        runs.map(({ step }) => step),
      );
      const mine = runs.filter(({ step, recorded }) => recorded !== undefined && moved.has(step.id));
      const free = await messages.claimKeys(
        transaction,
        mine.map(({ key }) => key),
        now,
      );
      return record(
        transaction,
        mine.flatMap(({ key, recorded }) => (recorded !== undefined && free.has(key) ? [recorded] : [])),
      );
    });
  }

  #plan(row: RecurringRow, now: number, identity: Identity | undefined): Run {
    const from = row.next ?? now;
    try {
      const rule = readRule(row);
      const due = Math.max(from, rule.upTo(now) ?? from);
      const step = { id: row.id, from, next: rule.after(now) ?? null, last: due };
      const key = `schedule:${row.id}:${String(due)}`;
      try {
        if (now - due > grace && row.missed === 'skip') {
          return { step: { ...step, trouble: 'Left out: it came due while nothing ran.' }, key, recorded: undefined };
        }
        return { step: { ...step, trouble: '' }, key, recorded: this.#prepare(row, identity) };
      } catch (error) {
        return { step: { ...step, trouble: reason(error) }, key, recorded: undefined };
      }
    } catch (error) {
      // What cannot be read any more must not come due for ever.
      return {
        step: { id: row.id, from, next: null, last: from, trouble: reason(error) },
        key: '',
        recorded: undefined,
      };
    }
  }

  #prepare({ topic, account, content }: RecurringRow, identity: Identity | undefined): Recorded {
    const { context, publisher, reserved } = this.#parts;
    if (identity === undefined) throw forbidden(`The account ${account} is gone or switched off.`);
    if (reserved.has(topic) || !context.accounts.may(identity, 'push', 'write', topic)) {
      throw forbidden(`${account} may not publish to ${topic}.`);
    }
    return publisher.prepare(draftOfRun(topic, readContent(content)));
  }

  /** The account as if it asked itself; undefined when it may not sign in. */
  async #identity(name: string): Promise<Identity | undefined> {
    const account = await this.#parts.context.accounts.find(name);
    if (account?.enabled !== true) return undefined;
    return { account: name, kind: account.kind, role: account.role, via: 'password' };
  }

  /**
   * After the clock was set back: what ran at a time that is still to come would else be silent until then. Times that
   * had their run do not get another, since their keys are taken.
   */
  async #rewind(): Promise<void> {
    const { context, store } = this.#parts;
    const now = this.#now();
    const rows = await store.withFutureRun(now + grace, batch);
    if (rows.length === 0) return;
    const changes = rows.map((row) => ({
      id: row.id,
      next: row.enabled === 1 ? (readRule(row).after(now) ?? null) : null,
    }));
    await context.commit(async (transaction) => {
      for (const { id, next } of changes) await store.change(transaction, id, { next, last: now });
    });
  }

  #now(): number {
    return Math.floor(this.#parts.context.clock.now() / 1000);
  }
}

function forbidden(detail: string): Problem {
  return new Problem('push.forbidden', 403, detail);
}

/** @throws what is a defect, and not the schedule's own trouble. */
function reason(error: unknown): string {
  if (error instanceof Problem) return error.detail;
  throw error;
}
