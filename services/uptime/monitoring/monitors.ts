import * as m from '#messages/uptime-problems';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { exceedsDepth } from '../../kit/json-depth.ts';
import { heartbeatStatus, missingTarget, MonitorConfig, secretFields } from '../../contracts/uptime/monitor.ts';
import { checkedTypes } from '../check/runner.ts';
import type { Checker } from '../check/checker.ts';
import type { CheckResult } from '../check/messages.ts';
import type { MonitorStore } from '../store/monitors.ts';
import type { Tables } from '../store/tables.ts';
import type { LocalChecks } from './local-checks.ts';
import { findDifferences } from './monitor-differences.ts';
import {
  applyStoredState,
  getIntervalMs,
  toRules,
  getTimeoutMs,
  createRuntimeMonitor,
  type StoredMonitorState,
  type RuntimeMonitor,
} from './monitor-state.ts';
import { SerialQueue } from '../../kit/serial-queue.ts';

/** Maximum nesting depth of a field. */
const maxLevels = 20;
const maxNameLength = 150;

export interface MonitorsDependencies {
  readonly context: Pick<Context, 'commit' | 'db' | 'clock' | 'random'>;
  readonly store: MonitorStore;
  readonly checker: Checker;
  readonly local: LocalChecks;
  /** Returns true when an active maintenance window lists the monitor. */
  readonly isCovered: (id: number) => boolean;
  /** Default notifications of new monitors, in the form of Uptime Kuma: `{"1001": true}`. */
  readonly defaultNotifications: () => Readonly<Record<string, true>>;
  /** Called when the stored state of a monitor changed. */
  readonly onStateChange: (monitor: RuntimeMonitor) => void;
  /** Called when monitors were added, changed or removed. */
  readonly onChange: (ids: readonly number[]) => void;
}

/** Manages the monitors in memory and in the store. Active monitors are checked. */
export class Monitors {
  readonly #dependencies: MonitorsDependencies;
  readonly #monitors = new Map<number, RuntimeMonitor>();
  readonly #idsByToken = new Map<string, number>();
  /** Serializes changes, so that each starts with the result of the previous one. */
  readonly #changes = new SerialQueue();
  /** True while this host checks the monitors. */
  #isChecking = false;

  constructor(dependencies: MonitorsDependencies) {
    this.#dependencies = dependencies;
  }

  get size(): number {
    return this.#monitors.size;
  }

  all(): readonly RuntimeMonitor[] {
    return [...this.#monitors.values()];
  }

  find(id: number): RuntimeMonitor | undefined {
    return this.#monitors.get(id);
  }

  /** @throws Problem `uptime.unknown` (404) */
  get(id: number): RuntimeMonitor {
    const monitor = this.#monitors.get(id);
    if (monitor === undefined) throw new Problem('uptime.unknown', 404, m.monitorNotFound());
    return monitor;
  }

  /** Returns the active monitor with a push token. */
  findByToken(token: string): RuntimeMonitor | undefined {
    const monitor = this.#monitors.get(this.#idsByToken.get(token) ?? 0);
    return monitor === undefined || !this.isActive(monitor) ? undefined : monitor;
  }

  /** Returns true when neither the monitor nor a group that contains it is paused. */
  isActive(monitor: RuntimeMonitor): boolean {
    return this.#withAncestors(monitor).every(({ config }) => config.active);
  }

  /** Returns true when a maintenance window covers the monitor or a group that contains it. */
  inMaintenance(monitor: RuntimeMonitor): boolean {
    return this.#withAncestors(monitor).some(({ id }) => this.#dependencies.isCovered(id));
  }

  /** Returns true when the checker process checks the monitor, which is not the case during maintenance. */
  isChecked(monitor: RuntimeMonitor): boolean {
    return checkedTypes.has(monitor.config.type) && !this.inMaintenance(monitor);
  }

  /** Updates the checks of monitors whose maintenance began or ended. */
  handleCoverageChange(ids: readonly number[]): void {
    const list = ids.flatMap((id) => [...(this.#monitors.has(id) ? [this.get(id)] : []), ...this.#findDescendants(id)]);
    this.#updateChecks([...new Set(list)], true);
  }

  findChildren(group: number): readonly RuntimeMonitor[] {
    return this.all().filter(({ config }) => config.parent === group);
  }

  /**
   * Returns the monitors that may share a cause: those of its group, its dependencies, and those with the same
   * dependencies.
   */
  findSiblings({ id, config }: RuntimeMonitor): readonly number[] {
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

  /** Loads the monitors. */
  async start(): Promise<void> {
    const { store, context } = this.#dependencies;
    const remembered = await this.#readStates();
    await context.commit((transaction) => store.sealAll(transaction));
    for (const { id, config } of await store.all()) this.#store(createRuntimeMonitor(id, config, remembered.get(id)));
  }

  /** Begins to check the monitors. */
  async startChecks(): Promise<void> {
    this.#isChecking = true;
    // Runs before the first check, so that the monitor cannot end the process again.
    await this.quarantine(this.#dependencies.checker.recover());
    this.#updateChecks(this.all(), false);
  }

  /** Ends the checks; results of running ones are ignored. */
  stopChecks(): void {
    const { checker, local } = this.#dependencies;
    this.#isChecking = false;
    const ids = [...this.#monitors.keys()];
    checker.remove(ids);
    for (const id of ids) local.remove(id);
  }

  /** Applies the changes of other hosts to the configurations. */
  reload(): Promise<void> {
    return this.#changes.run(async () => {
      const { added, changed, removedIds } = findDifferences(this.#monitors, await this.#dependencies.store.all());
      const ids = [...added.map(({ id }) => id), ...changed.map(({ id }) => id), ...removedIds];
      if (ids.length === 0) return;
      const states = added.length === 0 ? undefined : await this.#readStates();
      const addedMonitors = added.map(({ id, config }) => createRuntimeMonitor(id, config, states?.get(id)));
      for (const monitor of addedMonitors) this.#store(monitor);
      for (const { id, config } of changed) this.#applyChange(this.get(id), config);
      this.#forget(removedIds);
      this.#updateChecks(addedMonitors, true);
      this.#dependencies.onChange(ids);
    });
  }

  /** Applies the states that the host that checks the monitors has stored. */
  async reloadStates(): Promise<void> {
    for (const [id, stored] of await this.#readStates()) {
      const monitor = this.#monitors.get(id);
      if (monitor !== undefined && !this.#isChecking) applyStoredState(monitor, stored);
    }
  }

  /** Pauses monitors that may have ended the process; `setActive` resumes them. */
  async quarantine(ids: readonly number[]): Promise<void> {
    for (const id of ids) {
      const monitor = this.#monitors.get(id);
      if (monitor === undefined || !monitor.config.active) continue;
      await this.setActive(id, false);
      monitor.quarantinedAt = this.#dependencies.context.clock.now();
      this.#dependencies.onStateChange(monitor);
      this.#dependencies.onChange([id]);
    }
  }

  /** @throws Problem `uptime.invalid` (400) with fields, `uptime.taken` (409) for a token that is in use */
  async add(input: MonitorConfig, { lenient = false } = {}): Promise<RuntimeMonitor> {
    // Default notifications apply to new monitors that name none.
    const notificationIDList = input['notificationIDList'] ?? this.#dependencies.defaultNotifications();
    const [monitor] = await this.addAll([this.#validate({ ...input, notificationIDList }, undefined, lenient)]);
    if (monitor === undefined) throw new Error('monitor was not added');
    return monitor;
  }

  /** Adds validated monitors in one transaction. */
  addAll(configs: readonly MonitorConfig[]): Promise<readonly RuntimeMonitor[]> {
    return this.#changes.run(async () => {
      const { context, store } = this.#dependencies;
      const now = context.clock.now();
      const ids = await context.commit(async (transaction: Kysely<Tables>) => {
        const added: number[] = [];
        for (const config of configs) added.push(await store.add(transaction, config, now));
        return added;
      });
      const addedMonitors = ids.flatMap((id, index) => {
        const config = configs[index];
        return config === undefined ? [] : [createRuntimeMonitor(id, config)];
      });
      for (const monitor of addedMonitors) this.#store(monitor);
      this.#updateChecks(addedMonitors, true);
      this.#dependencies.onChange(ids);
      return addedMonitors;
    });
  }

  /** Validates a monitor that is to be added, or returns the reason why it is invalid. */
  parse(input: unknown): { readonly config: MonitorConfig } | { readonly error: string } {
    try {
      const parsed = MonitorConfig.safeParse(input);
      if (!parsed.success) return { error: z.prettifyError(parsed.error) };
      return { config: this.#validate(parsed.data, undefined, false) };
    } catch (error) {
      if (error instanceof Problem) return { error: error.detail };
      throw error;
    }
  }

  /** Changes a monitor. With `merge` only the given fields are replaced. Secrets that are not given are kept. */
  change(
    id: number,
    input: Readonly<Record<string, unknown>>,
    { merge, lenient = false }: { readonly merge: boolean; readonly lenient?: boolean },
  ): Promise<RuntimeMonitor> {
    return this.#changes.run(async () => {
      const monitor = this.get(id);
      const secrets = Object.fromEntries(secretFields.map((field) => [field, monitor.config[field]]));
      const existingFields = merge ? monitor.config : { ...secrets, active: monitor.config.active };
      const parsed = MonitorConfig.safeParse({ ...withoutUndefined(existingFields), ...withoutUndefined(input) });
      if (!parsed.success) throw invalid(parsed.error.issues.map(({ path, message }) => [path.join('.'), message]));
      const config = this.#validate(parsed.data, id, lenient);
      const { context, store, onChange: changed } = this.#dependencies;
      await context.commit((transaction) => store.change(transaction, id, config));
      this.#applyChange(monitor, config);
      changed([id]);
      return monitor;
    });
  }

  /** Changes the weights of monitors in one transaction. @throws Problem for an unknown monitor; none is changed then */
  order(weights: ReadonlyMap<number, number>): Promise<void> {
    return this.#changes.run(async () => {
      const { context, store, onChange } = this.#dependencies;
      const changes = [...weights].map(([id, weight]) => {
        const monitor = this.get(id);
        return { monitor, config: { ...monitor.config, weight } };
      });
      await context.commit(async (transaction) => {
        for (const { monitor, config } of changes) await store.change(transaction, monitor.id, config);
      });
      // The weight does not affect checks.
      for (const { monitor, config } of changes) monitor.config = config;
      onChange([...weights.keys()]);
    });
  }

  /** Removes a monitor. The children of a group are removed as well, or lose their group. */
  remove(id: number, { findChildren: children }: { readonly findChildren: boolean }): Promise<readonly number[]> {
    return this.#changes.run(async () => {
      this.get(id);
      const { context, store, onChange: changed } = this.#dependencies;
      const removedIds = children ? [id, ...this.#findDescendants(id).map((one) => one.id)] : [id];
      const orphans = this.findChildren(id).filter((one) => !removedIds.includes(one.id));
      const updatedOrphans = orphans.map((one) => ({ one, config: { ...one.config, parent: null } }));
      await context.commit(async (transaction) => {
        for (const { one, config } of updatedOrphans) await store.change(transaction, one.id, config);
        for (const one of removedIds) await store.remove(transaction, one);
      });
      for (const { one, config } of updatedOrphans) one.config = config;
      this.#forget(removedIds);
      changed(removedIds);
      return removedIds;
    });
  }

  /** Adds a paused copy of a monitor with its secrets. The copy of a push monitor gets its own token. */
  async duplicate(id: number): Promise<RuntimeMonitor> {
    const { config } = this.get(id);
    const name = m.copyName({ name: config.name }).slice(0, maxNameLength);
    return this.add({ ...config, name, pushToken: null, active: false }, { lenient: true });
  }

  /**
   * Checks a configuration once without storing it. With an ID, missing fields are those of that monitor.
   *
   * @throws Problem `uptime.invalid` (400) with fields, `uptime.untestable` (400) for a type without a check
   */
  async test(input: Readonly<Record<string, unknown>>, id: number | undefined): Promise<CheckResult> {
    const existingFields = id === undefined ? {} : this.get(id).config;
    const parsed = MonitorConfig.safeParse({ ...withoutUndefined(existingFields), ...withoutUndefined(input) });
    if (!parsed.success) throw invalid(parsed.error.issues.map(({ path, message }) => [path.join('.'), message]));
    if (!checkedTypes.has(parsed.data.type)) throw new Problem('uptime.untestable', 400, m.testUnsupported);
    const config = this.#validate(parsed.data, id, false);
    const { checker } = this.#dependencies;
    return checker.test({ config, intervalMs: getIntervalMs(config), timeoutMs: getTimeoutMs(config) });
  }

  async setActive(id: number, active: boolean): Promise<RuntimeMonitor> {
    const monitor = this.get(id);
    return monitor.config.active === active
      ? monitor
      : await this.change(id, { active }, { merge: true, lenient: true });
  }

  /** Sets the delay until the next check. */
  scheduleIn(id: number, inMs: number): void {
    const monitor = this.#monitors.get(id);
    if (monitor === undefined) return;
    if (this.isChecked(monitor)) this.#dependencies.checker.scheduleIn(id, inMs);
    else this.#dependencies.local.scheduleIn(monitor, inMs);
  }

  /** Checks groups whose members have changed, which can be long before their interval ends. */
  #checkGroups(ids: readonly (number | null)[]): void {
    for (const id of new Set(ids)) if (id !== null) this.scheduleIn(id, 0);
  }

  /** Returns the monitor and all groups that contain it. */
  #withAncestors(monitor: RuntimeMonitor): readonly RuntimeMonitor[] {
    const visited = new Set<RuntimeMonitor>();
    for (let current: RuntimeMonitor | undefined = monitor; current !== undefined && !visited.has(current);) {
      visited.add(current);
      current = current.config.parent === null ? undefined : this.#monitors.get(current.config.parent);
    }
    return [...visited];
  }

  #findDescendants(id: number): readonly RuntimeMonitor[] {
    const visited = new Map<number, RuntimeMonitor>();
    const walk = (group: number): void => {
      for (const child of this.findChildren(group)) {
        if (visited.has(child.id) || child.id === id) continue;
        visited.set(child.id, child);
        walk(child.id);
      }
    };
    walk(id);
    return [...visited.values()];
  }

  #store(monitor: RuntimeMonitor): void {
    this.#monitors.set(monitor.id, monitor);
    const { pushToken, type } = monitor.config;
    if (type === 'push' && pushToken !== null) this.#idsByToken.set(pushToken, monitor.id);
  }

  async #readStates(): Promise<ReadonlyMap<number, StoredMonitorState>> {
    const db: Kysely<Tables> = this.#dependencies.context.db;
    const rows = await db.selectFrom('standings').selectAll().execute();
    return new Map(rows.map(({ monitor_id, body }) => [monitor_id, JSON.parse(body) as StoredMonitorState]));
  }

  /** Replaces the configuration of a monitor in memory. */
  #applyChange(monitor: RuntimeMonitor, config: MonitorConfig): void {
    const all = [monitor, ...this.#findDescendants(monitor.id)];
    const { parent: previousGroup, active: wasActive, pushToken } = monitor.config;
    // The status during the pause is unknown.
    if (config.active && !wasActive) for (const one of all) one.checkState = { ...one.checkState, since: null };
    if (pushToken !== null) this.#idsByToken.delete(pushToken);
    if (config.active && monitor.quarantinedAt !== null) {
      monitor.quarantinedAt = null;
      this.#dependencies.onStateChange(monitor);
    }
    monitor.config = config;
    monitor.rules = toRules(config);
    monitor.usual = undefined;
    this.#store(monitor);
    this.#updateChecks(all, true);
    if (config.parent !== previousGroup || config.active !== wasActive) {
      this.#checkGroups([previousGroup, config.parent]);
    }
  }

  /** Removes monitors from memory. */
  #forget(ids: readonly number[]): void {
    const { checker, local } = this.#dependencies;
    const groups = ids.map((id) => this.get(id).config.parent);
    for (const id of ids) {
      const { pushToken } = this.get(id).config;
      if (pushToken !== null) this.#idsByToken.delete(pushToken);
      this.#monitors.delete(id);
      local.remove(id);
    }
    checker.remove(ids);
    this.#checkGroups(groups);
  }

  #updateChecks(list: readonly RuntimeMonitor[], now: boolean): void {
    if (!this.#isChecking) return;
    const { checker, local } = this.#dependencies;
    const inactive = list.filter((monitor) => !this.isActive(monitor));
    const active = list.filter((monitor) => this.isActive(monitor));
    const remote = active.filter((monitor) => this.isChecked(monitor));
    const localMonitors = active.filter((monitor) => !this.isChecked(monitor));
    for (const { id } of [...inactive, ...remote]) local.remove(id);
    checker.remove([...inactive, ...localMonitors].map(({ id }) => id));
    checker.set(
      remote.map(({ id, config, checkState }) => ({
        id,
        config,
        intervalMs: getIntervalMs(config),
        timeoutMs: getTimeoutMs(config),
        // Monitors without a status or in a retry are checked immediately.
        now: now || checkState.status === null || checkState.status === heartbeatStatus.pending,
      })),
    );
    for (const monitor of localMonitors) local.set(monitor, now || monitor.checkState.status === null);
  }

  /** Validates a monitor and adds the token of a push monitor. */
  #validate(input: MonitorConfig, id: number | undefined, lenient: boolean): MonitorConfig {
    const missingFields = lenient ? {} : missingTarget(input);
    const problems = Object.entries(missingFields);
    const deepField = Object.entries(input).find(([, value]) => exceedsDepth(value, maxLevels));
    // Deep nesting would fail in JSON and in messages to the checker process.
    if (deepField !== undefined)
      problems.push([deepField[0].slice(0, 100), m.nestingTooDeep({ max: String(maxLevels) })]);
    if (input.parent !== null && !this.#isValidParent(input.parent, id)) problems.push(['parent', m.groupNotFound()]);
    if (problems.length > 0) throw invalid(problems);
    if (input.type !== 'push') return input;
    const pushToken = input.pushToken ?? this.#dependencies.context.random.text(32);
    const existingId = this.#idsByToken.get(pushToken);
    if (existingId !== undefined && existingId !== id) {
      throw new Problem('uptime.taken', 409, m.pushTokenTaken(), {
        fields: { pushToken: m.pushTokenTaken() },
      });
    }
    return { ...input, pushToken };
  }

  #isValidParent(parent: number, id: number | undefined): boolean {
    if (this.#monitors.get(parent)?.config.type !== 'group' || parent === id) return false;
    return id === undefined || !this.#findDescendants(id).some((one) => one.id === parent);
  }
}

function invalid(problems: readonly (readonly [string, string])[]): Problem {
  const [first] = problems;
  const detail = first === undefined ? m.monitorInvalid() : m.fieldProblem({ field: first[0], problem: first[1] });
  return new Problem('uptime.invalid', 400, detail, { fields: Object.fromEntries(problems) });
}

function withoutUndefined(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
}
