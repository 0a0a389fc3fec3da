import type { Download } from '../../../../services/contracts/downloads/api.ts';
import { getFailureCause, type FailureRemedy } from '../../../../services/contracts/downloads/causes.ts';
import { formatBytes, formatDuration, formatFullTime } from '../../parts/text/format.ts';

const words: Readonly<Record<Download['state'], string>> = {
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
 * What is going on, in words: `Video 62 %, then audio · 3.1 MB/s · 0:42 left`. `waitsUntil`: when the hours for downloads
 * begin, empty where nobody knows, null within them.
 */
export function stage(download: Download, queuePaused: boolean, waitsUntil: string | null): string {
  const { state, percent, speed, eta, message } = download;
  const whole = percent === null ? '' : `${String(Math.floor(percent))} %`;
  if (state === 'waiting' && download.startsAt !== undefined) return `Begins ${formatFullTime(download.startsAt)}`;
  if (state === 'downloading' && download.live === true) return message ?? 'Recording the live stream';
  if (state === 'paused') return whole === '' ? words.paused : `${words.paused} at ${whole}`;
  if (state === 'waiting' && queuePaused) return 'Waiting until the queue is resumed';
  if (state === 'waiting' && waitsUntil !== null && download.anyway !== true) {
    return waitsUntil === '' ? 'Waiting for its hours' : `Waiting, goes on ${waitsUntil}`;
  }
  if (state !== 'downloading') return message ?? words[state];
  return [
    transfer(download, whole),
    speed === null ? '' : `${formatBytes(speed)}/s`,
    eta === null ? '' : `${formatDuration(eta)} left`,
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

function transfer({ stream }: Download, whole: string): string {
  if (stream === 'video') return `${`Video ${whole}`.trim()}, then audio`;
  return `${stream === 'audio' ? 'Audio' : words.downloading} ${whole}`.trim();
}

/** What to do about a failure, and the page where it is done. */
export interface Advice {
  readonly text: string;
  readonly page?: { readonly href: string; readonly title: string; readonly adminOnly: boolean };
}

const pages: Readonly<Record<FailureRemedy, NonNullable<Advice['page']>>> = {
  folder: { href: '/settings/downloads/downloadDir', title: 'Download folder', adminOnly: true },
  'private-addresses': {
    href: '/settings/downloads/allowPrivateAddresses',
    title: 'Allow private addresses',
    adminOnly: true,
  },
  engines: { href: '/settings/engines', title: 'Engines', adminOnly: true },
  cookies: { href: '/downloads/cookies', title: 'Cookies', adminOnly: false },
};

/** What to do about a failed download; what the extractor said where we know no better. */
export function whatToDo({ message }: Pick<Download, 'message'>): Advice {
  const { text, remedy } = getFailureCause(message);
  return remedy === undefined ? { text } : { text, page: pages[remedy] };
}

/** What is said of a link that was refused: our own refusals are sentences already, the extractor's words are not. */
export function refusalAdvice(message: string): Advice {
  return /^ERROR:|internal address|private address/i.test(message) ? whatToDo({ message }) : { text: message };
}
