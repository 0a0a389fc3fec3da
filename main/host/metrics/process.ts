import { performance } from 'node:perf_hooks';
import type { Metrics } from '../../../services/contracts/metrics.ts';

/** Declares the usual process metrics that are cheap to collect, all at the scrape. */
export function measureProcess(metrics: Metrics, version: string): void {
  metrics.gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the host.',
    collect: () => process.memoryUsage.rss(),
  });
  metrics
    .gauge({ name: 'process_start_time_seconds', help: 'Start of the host since the epoch.' })
    .set(Math.round(performance.timeOrigin) / 1000);
  metrics.gauge({
    name: 'nodejs_eventloop_lag_seconds',
    help: 'How long a callback had to wait for its turn at the scrape.',
    collect: eventLoopLag,
  });
  metrics.gauge({ name: 'homeport_info', help: 'Version of the host.', labels: ['version'] }).set(1, { version });
}

/** Returns the processor time that the host has used, in seconds. */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function eventLoopLag(): Promise<number> {
  const start = performance.now();
  return new Promise((resolve) => {
    setImmediate(() => resolve((performance.now() - start) / 1000));
  });
}
