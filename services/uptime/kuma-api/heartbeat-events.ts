import type { Kysely } from 'kysely';
import type { RuntimeMonitor } from '../monitoring/monitor-state.ts';
import { toListedHeartbeat } from '../wire/kuma-monitor.ts';
import { toNumber, type SocketEvents, type SocketDependencies } from './events.ts';

const hourMs = 3_600_000;

/** Returns the calls that read heartbeats and response times. */
export function heartbeatEvents({
  context,
  monitoring: { monitors, recorder, statistics },
  stores: { heartbeats },
}: SocketDependencies): SocketEvents {
  return {
    getMonitorBeats: {
      needs: 'read',
      async run(_session, id, hours) {
        await recorder.flush();
        const from = context.clock.now() - Math.min(8784, Math.max(0, Number(hours) || 0)) * hourMs;
        return { data: (await heartbeats.since(monitors.get(toNumber(id)).id, from)).map(toListedHeartbeat) };
      },
    },
    getMonitorChartData: {
      needs: 'read',
      async run(_session, id, hours) {
        const hourCount = Math.min(8784, Math.max(1, toNumber(hours)));
        const points = await statistics.getChart(monitors.get(toNumber(id)), hourCount);
        return {
          data: points
            .map(({ p95: _p95, ...point }) => ({
              ...point,
              avgPing: point.avgPing ?? 0,
              minPing: point.minPing ?? 0,
              maxPing: point.maxPing ?? 0,
            }))
            .toReversed(),
        };
      },
    },
    monitorImportantHeartbeatListCount: {
      needs: 'read',
      async run(_session, id) {
        return { count: await heartbeats.countImportant(id === null || id === undefined ? undefined : toNumber(id)) };
      },
    },
    monitorImportantHeartbeatListPaged: {
      needs: 'read',
      async run(_session, id, offset, count) {
        await recorder.flush();
        const monitorId = id === null || id === undefined ? undefined : toNumber(id);
        const list = await heartbeats.important(
          monitorId,
          Math.max(0, toNumber(offset)),
          Math.min(1000, Math.max(1, toNumber(count))),
        );
        return { data: list.map(toListedHeartbeat) };
      },
    },
  };
}

/** Returns the calls that delete heartbeats and statistics. */
export function historyDeletionEvents({
  context,
  monitoring: { monitors, recorder },
  stores: { heartbeats, buckets },
}: SocketDependencies): SocketEvents {
  const clear = async (
    work: (transaction: Kysely<any>) => Promise<void>,
    list: readonly RuntimeMonitor[],
  ): Promise<void> => {
    await recorder.flush();
    await context.commit(work);
    for (const monitor of list) {
      monitor.hours.clear();
      monitor.days.clear();
      monitor.usual = undefined;
    }
  };
  return {
    clearEvents: {
      needs: 'write',
      async run(_session, id) {
        const monitorId = monitors.get(toNumber(id)).id;
        await recorder.flush();
        await context.commit((transaction) => heartbeats.clearImportant(transaction, monitorId));
        return {};
      },
    },
    clearHeartbeats: {
      needs: 'write',
      async run(_session, id) {
        const monitor = monitors.get(toNumber(id));
        await clear((transaction) => heartbeats.clear(transaction, monitor.id), [monitor]);
        return {};
      },
    },
    clearStatistics: {
      needs: 'write',
      async run() {
        await clear(async (transaction) => {
          await heartbeats.clear(transaction, undefined);
          await buckets.clear(transaction);
        }, monitors.all());
        return {};
      },
    },
  };
}
