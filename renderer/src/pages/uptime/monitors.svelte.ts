import { uptimeApi, uptimeChanged, uptimeActivity } from '../../../../services/contracts/uptime/api.ts';
import type { DockerHost, Monitor, MonitorRow } from '../../../../services/contracts/uptime/views.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import { missingTarget, MonitorConfig } from '../../../../services/contracts/uptime/monitor.ts';
import { call, formatError } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { groupOf } from './monitor-filter.ts';
import { OfThoseInSight } from './of-those-in-sight.svelte.ts';

const everyMs = 30_000;
/** So many of the last checks of each. */
export const recentCount = 24;
/** The hours that are shown of each. */
export const shownHours = 24;

/** All monitors as they stand; the beats of those in sight. */
class Monitors {
  rows = $state.raw<readonly MonitorRow[]>([]);
  dockerHosts = $state.raw<readonly DockerHost[]>([]);
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  error = $state('');
  /** Grows whenever checks were made: what shows their figures reads them again. */
  turn = $state(0);
  /** The last checks, oldest first: status, ping and time. */
  readonly recent = new OfThoseInSight((ids) => call(uptimeApi.recent, { query: { ids, count: recentCount } }));
  /** The last hours, oldest first. */
  readonly hours = new OfThoseInSight((ids) => call(uptimeApi.hours, { query: { ids } }));
  #watchers = 0;
  #readAt = 0;
  #reading: Promise<void> | undefined;
  #again = false;

  readonly counts = $derived.by(() => {
    const counts = { down: 0, up: 0, retrying: 0, maintained: 0, unknown: 0, paused: 0 };
    for (const row of this.rows) counts[groupOf(row)] += 1;
    return counts;
  });

  find(id: number): MonitorRow | undefined {
    return this.rows.find((row) => row.id === id);
  }

  /** `Shop, Photos`; those that were removed are said to be. */
  namesOf(ids: readonly number[]): string {
    return ids.map((id) => this.find(id)?.name ?? 'A monitor that was removed').join(', ');
  }

  /** Reads them and follows them while somebody looks. */
  watch(): () => void {
    this.#watchers += 1;
    const ends = [
      live.on(uptimeChanged, () => void this.load()),
      live.on(uptimeActivity, () => {
        this.turn += 1;
        this.recent.refresh();
        // What changes a state is told of by itself; the rest of the list may be a little old.
        if (Date.now() - this.#readAt > everyMs) void this.load();
      }),
      live.onReset(() => void this.load()),
    ];
    void live.opened().then(() => this.load());
    return () => {
      this.#watchers -= 1;
      for (const end of ends) end();
    };
  }

  /** One reading at a time; what comes meanwhile is read once more. */
  load(): Promise<void> {
    if (this.#reading !== undefined) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = this.#read().finally(() => {
      this.#reading = undefined;
      if (this.#again && this.#watchers > 0) void this.load();
      this.#again = false;
    });
    return this.#reading;
  }

  one(id: number): Promise<Monitor> {
    return call(uptimeApi.monitor, { params: { id: String(id) } });
  }

  /** Adds one, or changes that of an id. @throws Problem with `fields` by their names. */
  async save(id: number | undefined, fields: Readonly<Record<string, unknown>>): Promise<number> {
    const saved =
      id === undefined
        ? await call(uptimeApi.add, { query: {}, body: checked(fields) })
        : await call(uptimeApi.change, { params: { id: String(id) }, body: { ...fields } });
    await this.load();
    return saved.id;
  }

  async setActive(id: number, active: boolean): Promise<void> {
    await call(active ? uptimeApi.resume : uptimeApi.pause, { params: { id: String(id) } });
    await this.load();
  }

  async remove(id: number): Promise<void> {
    await call(uptimeApi.remove, { params: { id: String(id) } });
    await this.load();
  }

  async #read(): Promise<void> {
    try {
      const { rows, dockerHosts } = await call(uptimeApi.overview);
      this.rows = rows;
      this.dockerHosts = dockerHosts;
      this.phase = 'ready';
      this.#readAt = Date.now();
      this.hours.refresh();
    } catch (error) {
      this.error = formatError(error);
      if (this.phase === 'loading') this.phase = 'failed';
    }
  }
}

/** @throws Problem with what is wrong with which field */
function checked(fields: Readonly<Record<string, unknown>>): MonitorConfig {
  const parsed = MonitorConfig.safeParse(fields);
  // All at once: nobody likes to be told of the next field after the one before.
  const wrong = Object.entries(missingTarget(fields));
  if (parsed.success && wrong.length === 0) return parsed.data;
  wrong.push(
    ...(parsed.error?.issues ?? []).map(({ path, message }): [string, string] => [String(path[0] ?? ''), message]),
  );
  throw new Problem('uptime.invalid', 400, wrong[0]?.[1] ?? 'This is not valid.', {
    fields: Object.fromEntries(wrong),
  });
}

export const monitors = new Monitors();
