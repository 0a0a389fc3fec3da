import * as m from '#messages/push-problems';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { ScheduleForm } from '../../contracts/push/schedules.ts';
import type { Context } from '../../contracts/service.ts';
import { parseRecurrence, type RecurrenceRule } from '../domain/cron/rule.ts';
import { invalidField } from '../domain/invalid-field.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { RecurringRow, RecurringStore } from '../store/recurring.ts';
import { serializeContent, toDraft, readContent } from './content.ts';

/** Maximum number of schedules of one account. */
const maxSchedules = 10_000;

export interface ScheduleDependencies {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'commit' | 'random'>;
  readonly store: RecurringStore;
  readonly publisher: Pick<Publisher, 'publish'>;
  /** Schedules a run for this time, in unix seconds. */
  readonly expect: (time: number | null) => void;
  readonly onChanged: () => void;
}

/** Schedules, managed by their accounts and by administrators. */
export class Schedules {
  readonly #dependencies: ScheduleDependencies;

  constructor(dependencies: ScheduleDependencies) {
    this.#dependencies = dependencies;
  }

  async list(
    identity: Identity,
    before: number | undefined,
    limit: number,
  ): Promise<{ readonly rows: readonly RecurringRow[]; readonly total: number }> {
    const { store } = this.#dependencies;
    const account = identity.role === 'admin' ? undefined : identity.account;
    const [rows, total] = await Promise.all([store.list(account, before, limit), store.count(account)]);
    return { rows, total };
  }

  /** @throws Problem `push.forbidden` (403), `push.invalid` (422), `push.too_many_schedules` (409). */
  async create(identity: Identity, form: ScheduleForm): Promise<RecurringRow> {
    const { context, store } = this.#dependencies;
    this.#requireWrite(identity, form.topic);
    const columns = this.#columns(form);
    const { account } = identity;
    if ((await store.count(account)) >= maxSchedules) {
      throw new Problem('push.too_many_schedules', 409, m.tooManySchedules({ limit: maxSchedules }));
    }
    const id = context.random.text(12);
    await context.commit((transaction) =>
      store.insert(transaction, { ...columns, id, account, last: null, error: '' }),
    );
    return this.#reloadAndNotify(identity, id);
  }

  /** @throws Problem `push.unknown_schedule` (404), `push.forbidden` (403), `push.invalid` (422). */
  async change(identity: Identity, id: string, form: ScheduleForm): Promise<RecurringRow> {
    await this.#requireOwned(identity, id);
    this.#requireWrite(identity, form.topic);
    return this.#update(identity, id, { ...this.#columns(form), error: '' });
  }

  /** @throws Problem `push.unknown_schedule` (404), `push.forbidden` (403), `push.invalid` (422). */
  async enable(identity: Identity, id: string, enabled: boolean): Promise<RecurringRow> {
    const row = await this.#requireOwned(identity, id);
    if (!enabled) return this.#update(identity, id, { enabled: 0, next: null });
    this.#requireWrite(identity, row.topic);
    return this.#update(identity, id, { enabled: 1, next: this.#firstRun(parseRecurrence(row)), error: '' });
  }

  /**
   * Publishes the message now.
   *
   * @throws Problem `push.unknown_schedule` (404), `push.forbidden` (403)
   */
  async run(identity: Identity, id: string): Promise<void> {
    const { topic, content } = await this.#requireOwned(identity, id);
    this.#requireWrite(identity, topic);
    await this.#dependencies.publisher.publish(toDraft(topic, readContent(content)));
  }

  /** @throws Problem `push.unknown_schedule` (404) */
  async remove(identity: Identity, id: string): Promise<void> {
    const { context, store, onChanged } = this.#dependencies;
    await this.#requireOwned(identity, id);
    if (!(await context.commit((transaction) => store.remove(transaction, id)))) throw notFound();
    onChanged();
  }

  /** Deletes the schedules of a deleted account, so that a new account of the same name does not own them. */
  async removeAccount(account: string): Promise<void> {
    const { context, store, onChanged } = this.#dependencies;
    await context.commit((transaction) => store.removeAccount(transaction, account));
    onChanged();
  }

  async #update(
    identity: Identity,
    id: string,
    change: Parameters<RecurringStore['change']>[2],
  ): Promise<RecurringRow> {
    const { context, store } = this.#dependencies;
    if (!(await context.commit((transaction) => store.change(transaction, id, change)))) throw notFound();
    return this.#reloadAndNotify(identity, id);
  }

  async #reloadAndNotify(identity: Identity, id: string): Promise<RecurringRow> {
    const row = await this.#requireOwned(identity, id);
    this.#dependencies.expect(row.next);
    this.#dependencies.onChanged();
    return row;
  }

  #columns(form: ScheduleForm) {
    const { topic, rule, zone, missed, enabled } = form;
    const starts = toSeconds(form.starts);
    const ends = toSeconds(form.ends);
    const first = this.#firstRun(parseRecurrence({ rule, zone, starts, ends }));
    return {
      topic,
      rule,
      zone,
      starts,
      ends,
      missed,
      content: serializeContent(form),
      enabled: enabled ? 1 : 0,
      next: enabled ? first : null,
    };
  }

  #firstRun(rule: RecurrenceRule): number {
    const first = rule.after(Math.floor(this.#dependencies.context.clock.now() / 1000));
    if (first === undefined) throw invalidField('rule', m.scheduleNeverRuns());
    return first;
  }

  /** Schedules of other accounts are reported as not found. */
  async #requireOwned(identity: Identity, id: string): Promise<RecurringRow> {
    const row = await this.#dependencies.store.find(id);
    if (row === undefined || (identity.role !== 'admin' && row.account !== identity.account)) throw notFound();
    return row;
  }

  #requireWrite(identity: Identity, topic: string): void {
    if (this.#dependencies.context.accounts.may(identity, 'push', 'write', topic)) return;
    throw new Problem('push.forbidden', 403, m.publishDenied({ topic }));
  }
}

function toSeconds(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1000);
}

function notFound(): Problem {
  return new Problem('push.unknown_schedule', 404, m.scheduleGone());
}
