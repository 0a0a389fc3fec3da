import type { Metrics } from '../contracts/service.ts';

/** What the metrics page tells of this service. */
export interface Meters {
  added(count: number): void;
  finished(outcome: 'finished' | 'failed'): void;
}

export function createMeters(metrics: Metrics, active: () => number): Meters {
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
  metrics.gauge({
    name: 'downloads_active',
    help: 'Downloads under way, post-processing included.',
    collect: active,
  });
  return {
    added: (count) => added.inc({}, count),
    finished: (outcome) => finished.inc({ outcome }),
  };
}
