import type { Kysely } from 'kysely';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { exceedsDepth } from '../../kit/json-depth.ts';
import { heartbeatStatus, missingTarget, MonitorConfig, secretFields } from '../../contracts/uptime/monitor.ts';
import { checkedTypes } from '../check/runner.ts';
import type { Checker } from '../check/checker.ts';
import type { MonitorStore } from '../store/monitors.ts';
import type { Tables } from '../store/tables.ts';
import type { LocalChecks } from './local-checks.ts';
import { intervalMs, rulesOf, timeoutMs, watchedOf, type Remembered, type Watched } from './monitor-state.ts';

/** Maximum nesting depth of a field. */
const maxLevels = 20;

export interface MonitorsParts {
  readonly context: Pick<Context, 'commit' | 'db' | 'clock' | 'random'>;
  readonly store: MonitorStore;
  readonly checker: Checker;
  readonly local: LocalChecks;
  /** Returns true when an active maintenance window lists the monitor. */
  readonly isCovered: (id: number) => boolean;
  /** Default notifications of new monitors, in the form of Uptime Kuma: `{"1001": true}`. */
  readonly defaultNotifications: () => Readonly<Record<string, true>>;
  /** Called when the stored state of a monitor changed. */
  readonly noted: (watched: Watched) => void;
  /** Called when monitors were added, changed or removed. */
  readonly changed: (ids: readonly number[]) => void;
}

/** Manages the monitors in memory and in the store. Active monitors are checked. */
export class Monitors {
  readonly #parts: MonitorsParts;
  readonly #watched = new Map<number, Watched>();
  readonly #byToken = new Map<string, number>();
  /** Serializes changes, so that each starts with the result of the previous one. */
  #latest: Promise<unknown> = Promise.resolve();

  constructor(parts: MonitorsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#watched.size;
  }

  all(): readonly Watched[] {
    return [...this.#watched.values()];
  }

  find(id: number): Watched | undefined {
    return this.#watched.get(id);
  }

  /** @throws Problem `uptime.unknown` (404) */
  get(id: number): Watched {
    const watched = this.#watched.get(id);
    if (watched === undefined) throw new Problem('uptime.unknown', 404, 'There is no such monitor.');
    return watched;
  }

  /** Returns the active monitor with a push token. */
  byToken(token: string): Watched | undefined {
    const watched = this.#watched.get(this.#byToken.get(token) ?? 0);
    return watched === undefined || !this.isActive(watched) ? undefined : watched;
  }

  /** Returns true when neither the monitor nor a group that contains it is paused. */
  isActive(watched: Watched): boolean {
    return this.#upwards(watched).every(({ config }) => config.active);
  }

  /** Returns true when a maintenance window covers the monitor or a group that contains it. */
  inMaintenance(watched: Watched): boolean {
    return this.#upwards(watched).some(({ id }) => this.#parts.isCovered(id));
  }

  /** Returns true when the checker process checks the monitor, which is not the case during maintenance. */
  isChecked(watched: Watched): boolean {
    return checkedTypes.has(watched.config.type) && !this.inMaintenance(watched);
  }

  /** Updates the checks of monitors whose maintenance began or ended. */
  turned(ids: readonly number[]): void {
    const list = ids.flatMap((id) => [...(this.#watched.has(id) ? [this.get(id)] : []), ...this.#below(id)]);
    this.#checkThese([...new Set(list)], true);
  }

  children(group: number): readonly Watched[] {
    return this.all().filter(({ config }) => config.parent === group);
  }

  /**
   * Returns the monitors that may share a cause: those of its group, its dependencies, and those with the same
   * dependencies.
   */
  siblings({ id, config }: Watched): readonly number[] {
    const hosts = new Set(config.dependsOn ?? []);
    return this.all()
      .filter(
        (other) =>
          other.id !== id &&
          (hosts.has(other.id) ||
            (other.config.dependsOn ?? []).some((host) => host === id || hosts.has(host)) ||
            (config.parent !== null && (other.config.parent === config.parent || other.id === config.parent)) ||
            other.config.parent === id),
      )
      .map((other) => other.id);
  }

  /** Loads the monitors and starts the checks. */
  async start(): Promise<void> {
    const { store, context } = this.#parts;
    const db: Kysely<Tables> = context.db;
    const rows = await db.selectFrom('standings').selectAll().execute();
    const remembered = new Map(rows.map(({ monitor_id, body }) => [monitor_id, JSON.parse(body) as Remembered]));
    await context.commit((transaction) => store.sealAll(transaction));
    for (const { id, config } of await store.all()) this.#keep(watchedOf(id, config, remembered.get(id)));
    // Runs before the first check, so that the monitor cannot end the process again.
    await this.quarantine(this.#parts.checker.recover());
    this.#checkThese(this.all(), false);
  }

  /** Pauses monitors that may have ended the process; `setActive` resumes them. */
  async quarantine(ids: readonly number[]): Promise<void> {
    for (const id of ids) {
      const watched = this.#watched.get(id);
      if (watched === undefined || !watched.config.active) continue;
      await this.setActive(id, false);
      watched.quarantinedAt = this.#parts.context.clock.now();
      this.#parts.noted(watched);
      this.#parts.changed([id]);
    }
  }

  /** @throws Problem `uptime.invalid` (400) with fields, `uptime.taken` (409) for a token that is in use */
  async add(given: MonitorConfig, { lenient = false } = {}): Promise<Watched> {
    // Default notifications apply to new monitors that name none.
    const notificationIDList = given['notificationIDList'] ?? this.#parts.defaultNotifications();
    const [watched] = await this.addAll([this.#completed({ ...given, notificationIDList }, undefined, lenient)]);
    if (watched === undefined) throw new Error('nothing was added');
    return watched;
  }

  /** Adds validated monitors in one transaction. */
  addAll(configs: readonly MonitorConfig[]): Promise<readonly Watched[]> {
    return this.#inTurn(async () => {
      const { context, store } = this.#parts;
      const now = context.clock.now();
      const ids = await context.commit(async (transaction: Kysely<Tables>) => {
        const added: number[] = [];
        for (const config of configs) added.push(await store.add(transaction, config, now));
        return added;
      });
      const made = ids.flatMap((id, index) => {
        const config = configs[index];
        return config === undefined ? [] : [watchedOf(id, config)];
      });
      for (const watched of made) this.#keep(watched);
      this.#checkThese(made, true);
      this.#parts.changed(ids);
      return made;
    });
  }

  /** Validates a monitor that is to be added, or returns the reason why it is invalid. */
  read(given: unknown): { readonly config: MonitorConfig } | { readonly trouble: string } {
    try {
      const parsed = MonitorConfig.safeParse(given);
      if (!parsed.success) return { trouble: z.prettifyError(parsed.error) };
      return { config: this.#completed(parsed.data, undefined, false) };
    } catch (error) {
      if (error instanceof Problem) return { trouble: error.detail };
      throw error;
    }
  }

  /** Changes a monitor. With `merge` only the given fields are replaced. Secrets that are not given are kept. */
  change(
    id: number,
    given: Readonly<Record<string, unknown>>,
    { merge, lenient = false }: { readonly merge: boolean; readonly lenient?: boolean },
  ): Promise<Watched> {
    return this.#inTurn(async () => {
      const watched = this.get(id);
      const secrets = Object.fromEntries(secretFields.map((field) => [field, watched.config[field]]));
      const kept = merge ? watched.config : { ...secrets, active: watched.config.active };
      const parsed = MonitorConfig.safeParse({ ...withoutUndefined(kept), ...withoutUndefined(given) });
      if (!parsed.success) throw invalid(parsed.error.issues.map(({ path, message }) => [path.join('.'), message]));
      const config = this.#completed(parsed.data, id, lenient);
      const { context, store, changed } = this.#parts;
      await context.commit((transaction) => store.change(transaction, id, config));
      const all = [watched, ...this.#below(id)];
      // The status during the pause is unknown.
      if (config.active && !watched.config.active)
        for (const one of all) one.standing = { ...one.standing, since: null };
      if (watched.config.pushToken !== null) this.#byToken.delete(watched.config.pushToken);
      if (config.active && watched.quarantinedAt !== null) {
        watched.quarantinedAt = null;
        this.#parts.noted(watched);
      }
      watched.config = config;
      watched.rules = rulesOf(config);
      watched.usual = undefined;
      this.#keep(watched);
      this.#checkThese(all, true);
      changed([id]);
      return watched;
    });
  }

  /** Removes a monitor. The children of a group are removed as well, or lose their group. */
  remove(id: number, { children }: { readonly children: boolean }): Promise<readonly number[]> {
    return this.#inTurn(async () => {
      this.get(id);
      const { context, store, checker, local, changed } = this.#parts;
      const gone = children ? [id, ...this.#below(id).map((one) => one.id)] : [id];
      const orphans = this.children(id).filter((one) => !gone.includes(one.id));
      const freed = orphans.map((one) => ({ one, config: { ...one.config, parent: null } }));
      await context.commit(async (transaction) => {
        for (const { one, config } of freed) await store.change(transaction, one.id, config);
        for (const one of gone) await store.remove(transaction, one);
      });
      for (const { one, config } of freed) one.config = config;
      for (const one of gone) {
        const { pushToken } = this.get(one).config;
        if (pushToken !== null) this.#byToken.delete(pushToken);
        this.#watched.delete(one);
        local.remove(one);
      }
      checker.remove(gone);
      changed(gone);
      return gone;
    });
  }

  async setActive(id: number, active: boolean): Promise<Watched> {
    const watched = this.get(id);
    return watched.config.active === active
      ? watched
      : await this.change(id, { active }, { merge: true, lenient: true });
  }

  /** Sets the delay until the next check. */
  again(id: number, inMs: number): void {
    const watched = this.#watched.get(id);
    if (watched === undefined) return;
    if (this.isChecked(watched)) this.#parts.checker.again(id, inMs);
    else this.#parts.local.again(watched, inMs);
  }

  /** Returns the monitor and all groups that contain it. */
  #upwards(watched: Watched): readonly Watched[] {
    const found = new Set<Watched>();
    for (let at: Watched | undefined = watched; at !== undefined && !found.has(at);) {
      found.add(at);
      at = at.config.parent === null ? undefined : this.#watched.get(at.config.parent);
    }
    return [...found];
  }

  #below(id: number): readonly Watched[] {
    const found = new Map<number, Watched>();
    const walk = (group: number): void => {
      for (const child of this.children(group)) {
        if (found.has(child.id) || child.id === id) continue;
        found.set(child.id, child);
        walk(child.id);
      }
    };
    walk(id);
    return [...found.values()];
  }

  #keep(watched: Watched): void {
    this.#watched.set(watched.id, watched);
    const { pushToken, type } = watched.config;
    if (type === 'push' && pushToken !== null) this.#byToken.set(pushToken, watched.id);
  }

  #checkThese(list: readonly Watched[], now: boolean): void {
    const { checker, local } = this.#parts;
    const idle = list.filter((watched) => !this.isActive(watched));
    const busy = list.filter((watched) => this.isActive(watched));
    const remote = busy.filter((watched) => this.isChecked(watched));
    const here = busy.filter((watched) => !this.isChecked(watched));
    for (const { id } of [...idle, ...remote]) local.remove(id);
    checker.remove([...idle, ...here].map(({ id }) => id));
    checker.set(
      remote.map(({ id, config, standing }) => ({
        id,
        config,
        intervalMs: intervalMs(config),
        timeoutMs: timeoutMs(config),
        // Monitors without a status or in a retry are checked immediately.
        now: now || standing.status === null || standing.status === heartbeatStatus.pending,
      })),
    );
    for (const watched of here) local.set(watched, now || watched.standing.status === null);
  }

  /** Validates a monitor and adds the token of a push monitor. */
  #completed(given: MonitorConfig, id: number | undefined, lenient: boolean): MonitorConfig {
    const lacks = lenient ? {} : missingTarget(given);
    const problems = Object.entries(lacks);
    const deep = Object.entries(given).find(([, value]) => exceedsDepth(value, maxLevels));
    // Deep nesting would fail in JSON and in messages to the checker process.
    if (deep !== undefined) problems.push([deep[0].slice(0, 100), `Use at most ${String(maxLevels)} levels.`]);
    if (given.parent !== null && !this.#mayBeIn(given.parent, id)) problems.push(['parent', 'There is no such group.']);
    if (problems.length > 0) throw invalid(problems);
    if (given.type !== 'push') return given;
    const pushToken = given.pushToken ?? this.#parts.context.random.text(32);
    const taken = this.#byToken.get(pushToken);
    if (taken !== undefined && taken !== id) {
      throw new Problem('uptime.taken', 409, 'Another monitor has this push token.', {
        fields: { pushToken: 'Another monitor has it.' },
      });
    }
    return { ...given, pushToken };
  }

  #mayBeIn(parent: number, id: number | undefined): boolean {
    if (this.#watched.get(parent)?.config.type !== 'group' || parent === id) return false;
    return id === undefined || !this.#below(id).some((one) => one.id === parent);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#latest.then(work, work);
    this.#latest = turn.catch(() => undefined);
    return turn;
  }
}

function invalid(problems: readonly (readonly [string, string])[]): Problem {
  const [first] = problems;
  const detail = first === undefined ? 'The monitor is not valid.' : `${first[0]}: ${first[1]}`;
  return new Problem('uptime.invalid', 400, detail, { fields: Object.fromEntries(problems) });
}

function withoutUndefined(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
}
