import type { Context } from '../../contracts/service.ts';
import { RepeatingTask } from '../../kit/repeating-task.ts';
import { readTableVersions } from '../../kit/table-versions.ts';
import type { HeartbeatStore, StoredHeartbeat } from '../store/heartbeats.ts';
import type { OwnerRequest, OwnerRequestStore } from '../store/owner-requests.ts';
import { countHeartbeat, type RuntimeMonitor } from './monitor-state.ts';
import type { Monitors } from './monitors.ts';

const intervalMs = 1500;

/** Functions that load a table again after another host has changed it. */
export type TableLoaders = Readonly<Record<string, () => Promise<void>>>;

export interface HostSyncDependencies {
  readonly context: Pick<Context, 'clock' | 'db' | 'log'>;
  readonly monitors: Monitors;
  readonly heartbeats: HeartbeatStore;
  readonly requests: OwnerRequestStore;
  /** Returns true while this host checks the monitors. */
  readonly isOwner: () => boolean;
  readonly loaders: TableLoaders;
  /** Called with each heartbeat that another host recorded. */
  readonly onHeartbeat: (monitor: RuntimeMonitor, heartbeat: StoredHeartbeat, changed: boolean) => void;
  /** Handles requests of other hosts, and resolves once they are deleted. */
  readonly onRequests: (requests: readonly OwnerRequest[]) => Promise<void>;
}

/**
 * Exchanges changes with other hosts through the tables: configurations that they changed, heartbeats of the host that
 * checks the monitors, and requests to it.
 */
export class HostSync implements AsyncDisposable {
  readonly #dependencies: HostSyncDependencies;
  #versions: ReadonlyMap<string, string> = new Map();
  #task: RepeatingTask | undefined;

  constructor(dependencies: HostSyncDependencies) {
    this.#dependencies = dependencies;
  }

  /** Begins after all tables were loaded. */
  async start(): Promise<void> {
    const { clock, log } = this.#dependencies.context;
    this.#versions = await this.#readVersions();
    await this.#readLatest();
    const onError = (error: unknown): void => log.warn('changes of other hosts could not be read', { error });
    this.#task = new RepeatingTask(() => this.#run(), { clock, intervalMs, onError });
  }

  /** Reads everything that the former owner has written. */
  async takeOver(): Promise<void> {
    const { monitors, loaders } = this.#dependencies;
    for (const load of Object.values(loaders)) await load();
    await monitors.reload();
    await this.#readHeartbeats();
    await monitors.reloadStates();
    await this.#readLatest();
  }

  /** Replaces states of results that were refused, because another host has the lease. */
  async reset(): Promise<void> {
    const { monitors } = this.#dependencies;
    for (const monitor of monitors.all()) monitor.checkState = { ...monitor.checkState, at: null };
    await monitors.reloadStates();
    await this.#readLatest();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#task?.[Symbol.asyncDispose]();
  }

  async #run(): Promise<void> {
    const { isOwner, loaders, monitors, onRequests, requests } = this.#dependencies;
    const previous = this.#versions;
    const versions = await this.#readVersions();
    const isChanged = (table: string): boolean => versions.get(table) !== previous.get(table);
    for (const [table, load] of Object.entries(loaders)) if (isChanged(table)) await load();
    if (isChanged('monitors')) await monitors.reload();
    if (isOwner()) {
      const open = await requests.list();
      if (open.length > 0) await onRequests(open);
    } else {
      await this.#readHeartbeats();
      if (isChanged('standings') && !isOwner()) await monitors.reloadStates();
    }
    this.#versions = versions;
  }

  #readVersions(): Promise<ReadonlyMap<string, string>> {
    const { context, loaders } = this.#dependencies;
    return readTableVersions(context.db, ['monitors', 'standings', ...Object.keys(loaders)]);
  }

  /** Continues each monitor with its latest heartbeat, since states are not stored with each one. */
  async #readLatest(): Promise<void> {
    const { heartbeats, monitors } = this.#dependencies;
    for (const heartbeat of await heartbeats.latest()) {
      const monitor = monitors.find(heartbeat.monitorId);
      if (monitor !== undefined && (monitor.checkState.at ?? -1) < heartbeat.at) applyHeartbeat(monitor, heartbeat);
    }
  }

  /** Applies the heartbeats that another host has recorded. */
  async #readHeartbeats(): Promise<void> {
    const { heartbeats, monitors, onHeartbeat } = this.#dependencies;
    for (;;) {
      const times = new Map(monitors.all().map(({ id, checkState }) => [id, checkState.at ?? -1]));
      const { rows, isComplete } = await heartbeats.after(times);
      for (const row of rows) {
        const monitor = monitors.find(row.monitorId);
        // The host may have become the owner in the meantime.
        if (monitor === undefined || (monitor.checkState.at ?? -1) >= row.at) continue;
        const previous = monitor.checkState;
        const heartbeat = { ...row, duration: Math.round((row.at - (previous.at ?? row.at)) / 1000) };
        countHeartbeat(monitor, heartbeat, previous);
        applyHeartbeat(monitor, heartbeat);
        onHeartbeat(monitor, heartbeat, previous.status !== heartbeat.status);
      }
      if (isComplete) return;
    }
  }
}

function applyHeartbeat(monitor: RuntimeMonitor, heartbeat: Omit<StoredHeartbeat, 'duration'>): void {
  const { status, msg, failure, ping, at, retries } = heartbeat;
  const { failure: _former, ...previous } = monitor.checkState;
  monitor.checkState = {
    ...previous,
    status,
    msg,
    ping,
    at,
    retries,
    since: previous.status === status ? previous.since : at,
    ...(failure === undefined ? {} : { failure }),
  };
}
