import type { DownloadNotifier } from './download-notifier.ts';
import type { LiveUpdates } from './live-updates.ts';
import type { DownloadMetrics } from './metrics.ts';

/** Reports of downloads to clients, to the metrics and to accounts. */
export interface Reporting {
  readonly live: LiveUpdates;
  readonly metrics: DownloadMetrics;
  readonly notifier: DownloadNotifier;
}
