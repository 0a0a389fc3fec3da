import type { Download } from '../../../../services/contracts/downloads.ts';
import { bytes, duration, fullTime } from '../../parts/format.ts';

const words: Readonly<Record<Download['state'], string>> = {
  pending: 'Waiting for its start',
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
  if (state === 'waiting' && download.startsAt !== undefined) return `Begins ${fullTime(download.startsAt)}`;
  if (state === 'downloading' && download.live === true) return message ?? 'Recording the live stream';
  if (state === 'paused') return whole === '' ? words.paused : `${words.paused} at ${whole}`;
  if (state === 'waiting' && queuePaused) return 'Waiting until the queue is resumed';
  if (state === 'waiting' && waitsUntil !== null && download.anyway !== true) {
    return waitsUntil === '' ? 'Waiting for its hours' : `Waiting, goes on ${waitsUntil}`;
  }
  if (state !== 'downloading') return message ?? words[state];
  return [
    transfer(download, whole),
    speed === null ? '' : `${bytes(speed)}/s`,
    eta === null ? '' : `${duration(eta)} left`,
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

function transfer({ stream }: Download, whole: string): string {
  if (stream === 'video') return `${`Video ${whole}`.trim()}, then audio`;
  return `${stream === 'audio' ? 'Audio' : words.downloading} ${whole}`.trim();
}

const advice: readonly (readonly [RegExp, string])[] = [
  [/disk is full|no space left/i, 'The disk is full. Free some space, then try again.'],
  [
    /internal address/i,
    'This address is in your own network. Allow private addresses in the settings of Downloads first.',
  ],
  [
    /private|sign in|log ?in|cookies|members?[- ]only|\bage\b/i,
    'The site wants a signed-in viewer. Only public videos can be fetched.',
  ],
  [
    /unsupported url|no video|no formats|requested format/i,
    'No video was found there. Check the address, or update yt-dlp.',
  ],
  [/HTTP Error (404|410)|removed|unavailable|deleted/i, 'The video is not there any more. Check the address.'],
  [
    /HTTP Error (403|429)|too many requests/i,
    'The site refuses at the moment. Try again in a while, or update yt-dlp.',
  ],
  [/HTTP Error 5\d\d/i, 'The site has trouble of its own. Try again later.'],
  [
    /timed out|timeout|connection|resolve|unreachable|not known/i,
    'The site could not be reached. Check your network, then try again.',
  ],
  [/folder cannot be written/i, 'The download folder cannot be written. Look at it in the settings of Downloads.'],
];

/** What to do about a failed download, in a sentence; what the extractor said where we know no better. */
export function whatToDo({ message }: Download): string {
  if (message === null) return 'The reason is not known. Try again.';
  return advice.find(([sign]) => sign.test(message))?.[1] ?? reason(message);
}

/** The extractor's own words without its marks. */
export function reason(message: string): string {
  return message.replace(/^ERROR:\s*(\[[^\]]*\]\s*)?/, '');
}
