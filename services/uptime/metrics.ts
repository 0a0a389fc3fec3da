import type { Counter, Metrics } from '../contracts/metrics.ts';
import { heartbeatStatus } from '../contracts/uptime/monitor.ts';
import type { CheckResult } from './check/messages.ts';
import type { RuntimeMonitor } from './monitoring/monitor-state.ts';
import type { Monitors } from './monitoring/monitors.ts';

const states = ['up', 'down', 'pending', 'maintenance', 'paused'] as const;
const kinds = [
  'down',
  'up',
  'cert_expiry',
  'degraded',
  'degraded_resolved',
  'maintenance_reminder',
  'maintenance_started',
  'maintenance_ended',
] as const;

export interface UptimeMetrics {
  readonly sent: Counter;
  readonly failed: Counter;
  readonly checked: (result: CheckResult) => void;
}

/** Registers the counters of the service. */
export function createMetrics(metrics: Metrics): UptimeMetrics {
  const checks = metrics.counter({
    name: 'uptime_checks_total',
    help: 'Checks that were made.',
    labels: ['result'],
    initial: [{ result: 'up' }, { result: 'down' }, { result: 'pending' }],
  });
  const lateness = metrics.histogram({
    name: 'uptime_check_lateness_seconds',
    help: 'How long after its time a check began.',
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  return {
    sent: metrics.counter({
      name: 'uptime_events_sent_total',
      help: 'Events that were handed to the aggregator.',
      labels: ['kind'],
      initial: kinds.map((kind) => ({ kind })),
    }),
    failed: metrics.counter({
      name: 'uptime_event_delivery_failures_total',
      help: 'Tries to hand over an event that failed.',
      initial: [{}],
    }),
    checked({ status, lateMs }) {
      const result = status === heartbeatStatus.up ? 'up' : status === heartbeatStatus.down ? 'down' : 'pending';
      checks.inc({ result });
      lateness.observe(lateMs / 1000);
    },
  };
}

/** Registers the numbers of monitors by state. */
export function registerMonitorGauges(metrics: Metrics, monitors: Pick<Monitors, 'all' | 'isActive'>): void {
  const byState = metrics.gauge({ name: 'uptime_monitors', help: 'Monitors by their state.', labels: ['state'] });
  metrics.gauge({
    name: 'uptime_monitors_up',
    help: 'Active monitors whose status is up.',
    collect() {
      const counts = countByState(monitors.all(), (monitor) => monitors.isActive(monitor));
      for (const state of states) byState.set(counts[state], { state });
      return counts.up;
    },
  });
}

type Counts = Record<(typeof states)[number], number>;

/** Counts monitors by state. */
export function countByState(
  allMonitors: readonly RuntimeMonitor[],
  isActive: (monitor: RuntimeMonitor) => boolean,
): Counts {
  const counts: Counts = { up: 0, down: 0, pending: 0, maintenance: 0, paused: 0 };
  for (const monitor of allMonitors) {
    const { status } = monitor.checkState;
    if (!isActive(monitor)) counts.paused += 1;
    else if (status === heartbeatStatus.up) counts.up += 1;
    else if (status === heartbeatStatus.down) counts.down += 1;
    else if (status === heartbeatStatus.maintenance) counts.maintenance += 1;
    else counts.pending += 1;
  }
  return counts;
}
