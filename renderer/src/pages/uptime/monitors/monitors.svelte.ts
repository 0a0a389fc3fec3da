import * as m from '#messages/uptime';
import { formatList } from '../../../../../messages/format.ts';
import { uptimeApi, uptimeChanged, uptimeActivity } from '../../../../../services/contracts/uptime/api.ts';
import type { DockerHost, Monitor, MonitorRow, TestResult } from '../../../../../services/contracts/uptime/views.ts';
import { manageApi, type MonitorTag } from '../../../../../services/contracts/uptime/manage.ts';
import { Problem } from '../../../../../services/contracts/problem.ts';
import { missingTarget, MonitorConfig } from '../../../../../services/contracts/uptime/monitor.ts';
import { call } from '../../../api/call.ts';
import { live } from '../../../state/live.svelte.ts';
import { getStatusGroup } from './monitor-filter.ts';
import type { MonitorWeight } from './order/monitor-order.ts';
import { VisibleRowsLoader } from './visible-rows-loader.svelte.ts';

const refreshIntervalMs = 30_000;
/** Number of recent checks per monitor. */
export const recentCount = 24;
/** Number of hours that the bars of a monitor show. */
export const visibleHours = 24;

/** All monitors with their status, and the heartbeats of the visible ones. */
class Monitors {
  rows = $state.raw<readonly MonitorRow[]>([]);
  dockerHosts = $state.raw<readonly DockerHost[]>([]);
  tags = $state.raw<readonly MonitorTag[]>([]);
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  /** Error of the last failed load. */
  failure = $state.raw<unknown>();
  /** Counter of check results; views with figures reload when it changes. */
  revision = $state(0);
  /** Recent checks, oldest first: status, ping and time. */
  readonly recent = new VisibleRowsLoader((ids) => call(uptimeApi.recent, { query: { ids, count: recentCount } }));
  /** Uptime of the last hours, oldest first. */
  readonly hours = new VisibleRowsLoader((ids) => call(uptimeApi.hours, { query: { ids } }));
  /** Icons of monitored websites as data URLs. */
  readonly favicons = new VisibleRowsLoader((ids) => call(uptimeApi.favicons, { query: { ids } }));
  #watcherCount = 0;
  #loadedAt = 0;
  #pendingLoad: Promise<void> | undefined;
  #needsReload = false;

  readonly counts = $derived.by(() => {
    const counts = { down: 0, up: 0, retrying: 0, maintained: 0, unknown: 0, paused: 0 };
    for (const row of this.rows) counts[getStatusGroup(row)] += 1;
    return counts;
  });

  find(id: number): MonitorRow | undefined {
    return this.rows.find((row) => row.id === id);
  }

  /** Formats the names of monitors, such as `Shop, Photos`; removed ones are marked as such. */
  formatNames(ids: readonly number[]): string {
    return formatList(
      ids.map((id) => this.find(id)?.name ?? m.removedMonitor()),
      'unit',
    );
  }

  /** Loads the monitors and subscribes to changes until the returned function is called. */
  watch(): () => void {
    this.#watcherCount += 1;
    const unsubscribers = [
      live.on(uptimeChanged, () => void this.load()),
      live.on(uptimeActivity, () => {
        this.revision += 1;
        this.recent.refresh();
        // Changes of the status have their own event; other figures may be a little old.
        if (Date.now() - this.#loadedAt > refreshIntervalMs) void this.load();
      }),
      live.onReset(() => void this.load()),
    ];
    void live.opened().then(() => this.load());
    return () => {
      this.#watcherCount -= 1;
      for (const unsubscribe of unsubscribers) unsubscribe();
    };
  }

  /** Loads the monitors. A call during a running request causes one more request after it. */
  load(): Promise<void> {
    if (this.#pendingLoad !== undefined) {
      this.#needsReload = true;
      return this.#pendingLoad;
    }
    this.#pendingLoad = this.#read().finally(() => {
      this.#pendingLoad = undefined;
      if (this.#needsReload && this.#watcherCount > 0) void this.load();
      this.#needsReload = false;
    });
    return this.#pendingLoad;
  }

  fetchMonitor(id: number): Promise<Monitor> {
    return call(uptimeApi.monitor, { params: { id: String(id) } });
  }

  /** Adds a monitor, or changes the one with this ID. @throws Problem with `fields` by name. */
  async save(id: number | undefined, fields: Readonly<Record<string, unknown>>): Promise<number> {
    const saved =
      id === undefined
        ? await call(uptimeApi.add, { query: {}, body: parseConfig(fields) })
        : await call(uptimeApi.change, { params: { id: String(id) }, body: { ...fields } });
    await this.load();
    return saved.id;
  }

  /** Checks a configuration without storing it. @throws Problem with `fields` by name */
  async test(id: number | undefined, fields: Readonly<Record<string, unknown>>): Promise<TestResult> {
    const config = id === undefined ? parseConfig(fields) : { ...fields };
    return call(uptimeApi.test, { body: id === undefined ? { config } : { id, config } });
  }

  /** Adds a paused copy of a monitor and returns its ID. */
  async duplicate(id: number): Promise<number> {
    const copy = await call(uptimeApi.duplicate, { params: { id: String(id) } });
    await this.load();
    return copy.id;
  }

  async addTag(tag: Readonly<Pick<MonitorTag, 'name' | 'color'>>): Promise<MonitorTag> {
    const added = await call(manageApi.addTag, { body: { ...tag } });
    this.tags = [...this.tags, added];
    return added;
  }

  async setActive(id: number, active: boolean): Promise<void> {
    await call(active ? uptimeApi.resume : uptimeApi.pause, { params: { id: String(id) } });
    await this.load();
  }

  /** Moves monitors into a group, or out of all groups with null. @throws Problem */
  async move(ids: readonly number[], group: number | null): Promise<void> {
    const { failed } = await call(manageApi.editMany, { body: { ids: [...ids], change: { parent: group } } });
    await this.load();
    const [first] = failed;
    if (first !== undefined) throw new Problem('uptime.invalid', 400, first.error);
  }

  /** Stores the manual order of members of a group. @throws Problem */
  async order(weights: readonly MonitorWeight[]): Promise<void> {
    if (weights.length === 0) return;
    await call(manageApi.order, { body: { weights: [...weights] } });
    await this.load();
  }

  async remove(id: number): Promise<void> {
    await call(uptimeApi.remove, { params: { id: String(id) } });
    await this.load();
  }

  async #read(): Promise<void> {
    try {
      const { rows, dockerHosts, tags } = await call(uptimeApi.overview);
      this.rows = rows;
      this.tags = tags;
      this.dockerHosts = dockerHosts;
      this.phase = 'ready';
      this.#loadedAt = Date.now();
      this.hours.refresh();
    } catch (error) {
      this.failure = error;
      if (this.phase === 'loading') this.phase = 'failed';
    }
  }
}

/** @throws Problem with a message for each invalid field */
function parseConfig(fields: Readonly<Record<string, unknown>>): MonitorConfig {
  const parsed = MonitorConfig.safeParse(fields);
  // Reports all invalid fields together.
  const fieldErrors = Object.entries(missingTarget(fields));
  if (parsed.success && fieldErrors.length === 0) return parsed.data;
  fieldErrors.push(
    ...(parsed.error?.issues ?? []).map(({ path, message }): [string, string] => [String(path[0] ?? ''), message]),
  );
  throw new Problem('uptime.invalid', 400, fieldErrors[0]?.[1] ?? m.notValid(), {
    fields: Object.fromEntries(fieldErrors),
  });
}

export const monitors = new Monitors();
