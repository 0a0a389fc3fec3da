import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { ScheduleForm } from '../../contracts/push/schedules.ts';
import type { Context } from '../../contracts/service.ts';
import { readRule, type Rule } from '../domain/cron/rule.ts';
import { invalidField } from '../domain/invalid-field.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { RecurringRow, RecurringStore } from '../store/recurring.ts';
import { contentText, draftOfRun, readContent } from './content.ts';

/** Schedules that one account may have. */
const most = 10_000;

export interface ScheduleParts {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'commit' | 'random'>;
  readonly store: RecurringStore;
  readonly publisher: Pick<Publisher, 'publish'>;
  /** A run is due at this time, in unix seconds. */
  readonly expect: (time: number | null) => void;
  readonly changed: () => void;
}

/** Schedules in the hands of those whose they are, and of administrators. */
export class Schedules {
  readonly #parts: ScheduleParts;

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
  }

  async list(
    identity: Identity,
    before: number | undefined,
    limit: number,
  ): Promise<{ readonly rows: readonly RecurringRow[]; readonly total: number }> {
    const { store } = this.#parts;
    const whose = identity.role === 'admin' ? undefined : identity.account;
    const [rows, total] = await Promise.all([store.list(whose, before, limit), store.count(whose)]);
    return { rows, total };
  }

  /** @throws Problem `push.forbidden` (403), `push.invalid` (422), `push.too_many_schedules` (409). */
  async create(identity: Identity, form: ScheduleForm): Promise<RecurringRow> {
    const { context, store } = this.#parts;
    this.#requireWrite(identity, form.topic);
    const written = this.#columns(form);
    const { account } = identity;
    if ((await store.count(account)) >= most) {
      throw new Problem('push.too_many_schedules', 409, `There are ${String(most)} schedules. Remove some first.`);
    }
    const id = context.random.text(12);
    await context.commit((transaction) =>
      store.insert(transaction, { ...written, id, account, last: null, trouble: '' }),
    );
    return this.#after(identity, id);
  }

  /** @throws Problem `push.unknown_schedule` (404), `push.forbidden` (403), `push.invalid` (422). */
  async change(identity: Identity, id: string, form: ScheduleForm): Promise<RecurringRow> {
    await this.#own(identity, id);
    this.#requireWrite(identity, form.topic);
    return this.#set(identity, id, { ...this.#columns(form), trouble: '' });
  }

  /** @throws Problem `push.unknown_schedule` (404), `push.forbidden` (403), `push.invalid` (422). */
  async enable(identity: Identity, id: string, enabled: boolean): Promise<RecurringRow> {
    const row = await this.#own(identity, id);
    if (!enabled) return this.#set(identity, id, { enabled: 0, next: null });
    this.#requireWrite(identity, row.topic);
    return this.#set(identity, id, { enabled: 1, next: this.#first(readRule(row)), trouble: '' });
  }

  /** Publishes the message now. @throws Problem `push.unknown_schedule` (404), `push.forbidden` (403). */
  async run(identity: Identity, id: string): Promise<void> {
    const { topic, content } = await this.#own(identity, id);
    this.#requireWrite(identity, topic);
    await this.#parts.publisher.publish(draftOfRun(topic, readContent(content)));
  }

  /** @throws Problem `push.unknown_schedule` (404) */
  async remove(identity: Identity, id: string): Promise<void> {
    const { context, store, changed } = this.#parts;
    await this.#own(identity, id);
    if (!(await context.commit((transaction) => store.remove(transaction, id)))) throw unknown();
    changed();
  }

  /** Removes what an account had, once it is no more: another of that name is somebody else. */
  async forget(account: string): Promise<void> {
    const { context, store, changed } = this.#parts;
    await context.commit((transaction) => store.removeAccount(transaction, account));
    changed();
  }

  async #set(identity: Identity, id: string, change: Parameters<RecurringStore['change']>[2]): Promise<RecurringRow> {
    const { context, store } = this.#parts;
    if (!(await context.commit((transaction) => store.change(transaction, id, change)))) throw unknown();
    return this.#after(identity, id);
  }

  async #after(identity: Identity, id: string): Promise<RecurringRow> {
    const row = await this.#own(identity, id);
    this.#parts.expect(row.next);
    this.#parts.changed();
    return row;
  }

  #columns(form: ScheduleForm) {
    const { topic, rule, zone, missed, enabled } = form;
    const starts = secondsOf(form.starts);
    const ends = secondsOf(form.ends);
    const first = this.#first(readRule({ rule, zone, starts, ends }));
    return {
      ...{ topic, rule, zone, starts, ends, missed, content: contentText(form), enabled: enabled ? 1 : 0 },
      next: enabled ? first : null,
    };
  }

  #first(rule: Rule): number {
    const first = rule.after(Math.floor(this.#parts.context.clock.now() / 1000));
    if (first === undefined) throw invalidField('rule', 'This never comes due, or its end has passed.');
    return first;
  }

  /** One of somebody else is as good as not there. */
  async #own(identity: Identity, id: string): Promise<RecurringRow> {
    const row = await this.#parts.store.find(id);
    if (row === undefined || (identity.role !== 'admin' && row.account !== identity.account)) throw unknown();
    return row;
  }

  #requireWrite(identity: Identity, topic: string): void {
    if (this.#parts.context.accounts.may(identity, 'push', 'write', topic)) return;
    throw new Problem('push.forbidden', 403, `You may not publish to ${topic}. An administrator can grant it.`);
  }
}

function secondsOf(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1000);
}

function unknown(): Problem {
  return new Problem('push.unknown_schedule', 404, 'This schedule is not there any more.');
}
