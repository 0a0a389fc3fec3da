import type { Download } from '../../../../../services/contracts/downloads/api.ts';
import {
  getFailureCause,
  type Failure,
  type FailureRemedy,
} from '../../../../../services/contracts/downloads/causes.ts';
import { formatBytes, formatDuration, formatFullTime } from '../../../parts/text/format.ts';

const stateLabels: Readonly<Record<Download['state'], string>> = {
  pending: 'Waits until you start it',
  waiting: 'Waiting for its turn',
  preparing: 'Looking at the page',
  downloading: 'Downloading',
  postprocessing: 'Putting the file together',
  paused: 'Paused',
  finished: 'Finished',
  failed: 'Failed',
};

/**
 * Formats the status of a download, such as `Video 62 %, then audio · 3.1 MB/s · 0:42 left`.
 *
 * @param waitsUntil Start of the next download hours; empty when it is unknown, `null` during the hours.
 */
export function formatStatus(download: Download, queuePaused: boolean, waitsUntil: string | null): string {
  const { state, percent, speed, eta, message } = download;
  const percentText = percent === null ? '' : `${String(Math.floor(percent))} %`;
  if (state === 'waiting' && download.startsAt !== undefined) return `Begins ${formatFullTime(download.startsAt)}`;
  if (state === 'downloading' && download.live === true) return message ?? 'Recording the live stream';
  if (state === 'paused') return percentText === '' ? stateLabels.paused : `${stateLabels.paused} at ${percentText}`;
  if (state === 'waiting' && queuePaused) return 'Waiting until the queue is resumed';
  if (state === 'waiting' && waitsUntil !== null && download.anyway !== true) {
    return waitsUntil === '' ? 'Waiting for its hours' : `Waiting, goes on ${waitsUntil}`;
  }
  if (state !== 'downloading') return message ?? stateLabels[state];
  return [
    formatTransfer(download, percentText),
    speed === null ? '' : `${formatBytes(speed)}/s`,
    eta === null ? '' : `${formatDuration(eta)} left`,
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

function formatTransfer({ stream }: Download, percentText: string): string {
  if (stream === 'video') return `${`Video ${percentText}`.trim()}, then audio`;
  return `${stream === 'audio' ? 'Audio' : stateLabels.downloading} ${percentText}`.trim();
}

/** Advice about a failure, with the page that solves it. */
export interface Advice {
  readonly text: string;
  readonly page?: { readonly href: string; readonly title: string; readonly adminOnly: boolean };
}

const remedyPages: Readonly<Record<FailureRemedy, NonNullable<Advice['page']>>> = {
  folder: { href: '/settings/downloads/downloadDir', title: 'Download folder', adminOnly: true },
  'private-addresses': {
    href: '/settings/downloads/allowPrivateAddresses',
    title: 'Allow private addresses',
    adminOnly: true,
  },
  engines: { href: '/settings/engines', title: 'Engines', adminOnly: true },
  cookies: { href: '/downloads/cookies', title: 'Cookies', adminOnly: false },
};

/** Returns advice about a failed download; without a known cause, the message of the extractor. */
export function getFailureAdvice(failure: Failure): Advice {
  const { text, remedy } = getFailureCause(failure);
  return remedy === undefined ? { text } : { text, page: remedyPages[remedy] };
}
