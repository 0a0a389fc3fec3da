import { isDeepStrictEqual } from 'node:util';
import type { StoredMonitor } from '../store/monitors.ts';
import type { RuntimeMonitor } from './monitor-state.ts';

/** Differences between the monitors in memory and in the table. */
export interface MonitorDifferences {
  readonly added: readonly StoredMonitor[];
  readonly changed: readonly StoredMonitor[];
  readonly removedIds: readonly number[];
}

export function findDifferences(
  current: ReadonlyMap<number, RuntimeMonitor>,
  stored: readonly StoredMonitor[],
): MonitorDifferences {
  const storedIds = new Set(stored.map(({ id }) => id));
  return {
    added: stored.filter(({ id }) => !current.has(id)),
    changed: stored.filter(({ id, config }) => {
      const monitor = current.get(id);
      return monitor !== undefined && !isDeepStrictEqual(toJson(monitor.config), toJson(config));
    }),
    removedIds: [...current.keys()].filter((id) => !storedIds.has(id)),
  };
}

/** Returns a configuration as it is stored: without undefined fields. */
function toJson(config: StoredMonitor['config']): unknown {
  return JSON.parse(JSON.stringify(config));
}
