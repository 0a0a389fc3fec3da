import type { Metrics } from '../../contracts/metrics.ts';
import { failureKinds, type FailureKind } from '../domain/engine-messages.ts';

/** Metrics of this service. */
export interface DownloadMetrics {
  added(count: number): void;
  /** Counts a finished download with the bytes of the file and the seconds since its start. */
  finished(bytes: number, seconds: number): void;
  failed(kind: FailureKind): void;
}

/** Buckets in seconds, from one second to four hours. */
const buckets = [1, 5, 15, 60, 300, 900, 3600, 14_400];

export function createDownloadMetrics(
  metrics: Metrics,
  gauges: { readonly active: () => number; readonly queued: () => Promise<number> },
): DownloadMetrics {
  const added = metrics.counter({
    name: 'downloads_added_total',
    help: 'Downloads put into the queue.',
    initial: [{}],
  });
  const finished = metrics.counter({
    name: 'downloads_finished_total',
    help: 'Downloads that came to an end, by outcome.',
    labels: ['outcome'],
    initial: [{ outcome: 'finished' }, { outcome: 'failed' }],
  });
  const failures = metrics.counter({
    name: 'downloads_failures_total',
    help: 'Downloads that failed, by what was wrong.',
    labels: ['reason'],
    initial: failureKinds.map((reason) => ({ reason })),
  });
  const bytes = metrics.counter({
    name: 'downloads_bytes_total',
    help: 'Size of the files that were finished.',
    initial: [{}],
  });
  const duration = metrics.histogram({
    name: 'downloads_duration_seconds',
    help: 'Time from the start of a download to its file, without what it waited or was paused before.',
    buckets,
  });
  metrics.gauge({
    name: 'downloads_active',
    help: 'Downloads under way, post-processing included.',
    collect: gauges.active,
  });
  metrics.gauge({
    name: 'downloads_queued',
    help: 'Downloads that wait for their turn.',
    collect: gauges.queued,
  });
  return {
    added: (count) => added.inc({}, count),
    finished(size, seconds) {
      finished.inc({ outcome: 'finished' });
      bytes.inc({}, size);
      duration.observe(seconds);
    },
    failed(kind) {
      finished.inc({ outcome: 'failed' });
      failures.inc({ reason: kind });
    },
  };
}
