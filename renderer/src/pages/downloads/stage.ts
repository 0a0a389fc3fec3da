import type { Download } from '../../../../services/contracts/downloads/api.ts';
import { bytes, duration, fullTime } from '../../parts/text/format.ts';

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

/** What to do about a failure, and the page where it is done. */
export interface Advice {
  readonly text: string;
  readonly page?: { readonly href: string; readonly title: string; readonly adminOnly: boolean };
}

/** The field that a refusal is about. */
const setting = (name: 'downloadDir' | 'allowPrivateAddresses', title: string): NonNullable<Advice['page']> => {
  return { href: `/settings/downloads/${name}`, title, adminOnly: true };
};
const folder = setting('downloadDir', 'Download folder');
const engines = { href: '/settings/engines', title: 'Engines', adminOnly: true };
const cookies = { href: '/downloads/cookies', title: 'Cookies', adminOnly: false };

const known: readonly (readonly [RegExp, Advice])[] = [
  [/disk is full|no space left/i, { text: 'The disk is full. Free some space, then try again.', page: folder }],
  [
    /internal address|private address/i,
    {
      text: 'This address is in your own network, and such addresses are refused.',
      page: setting('allowPrivateAddresses', 'Allow private addresses'),
    },
  ],
  [/folder[^.]* cannot be written/i, { text: 'The folder cannot be written. Choose another one.', page: folder }],
  [
    /ffmpeg[^.]*(not found|missing|not installed)|ffprobe[^.]*not found/i,
    { text: 'This needs ffmpeg, which is missing. Install it, then try again.', page: engines },
  ],
  [
    /yt-dlp[^.]*(missing|too old)/i,
    { text: 'yt-dlp is missing or too old. Install it, then try again.', page: engines },
  ],
  [/\bDRM\b|protected/i, { text: 'The video is locked by its site (DRM) and cannot be downloaded.' }],
  [
    /not (made this video )?available (in|from) your (country|location)|geo.?restrict/i,
    { text: 'The site does not show it in your country.' },
  ],
  [
    /private|sign in|log ?in|cookies|members?[- ]only|\bage\b|HTTP Error 401|account/i,
    { text: 'The site wants a signed-in viewer. Give it the cookies of your browser.', page: cookies },
  ],
  [
    /unsupported url|no video|no formats|requested format/i,
    { text: 'No video was found there. Check the address, or update yt-dlp.', page: engines },
  ],
  [
    /HTTP Error (404|410)|removed|unavailable|deleted/i,
    { text: 'The video is not there any more. Check the address.' },
  ],
  [
    /HTTP Error (403|429)|too many requests/i,
    { text: 'The site refuses at the moment. Try again in a while, or update yt-dlp.', page: engines },
  ],
  [/HTTP Error 5\d\d/i, { text: 'The site has trouble of its own. Try again later.' }],
  [
    /timed out|timeout|connection|resolve|unreachable|not known|did not say within/i,
    { text: 'The site could not be reached. Check your network, then try again.' },
  ],
];

/** What to do about a failed download; what the extractor said where we know no better. */
export function whatToDo({ message }: Pick<Download, 'message'>): Advice {
  if (message === null) return { text: 'The reason is not known. Try again.' };
  return known.find(([sign]) => sign.test(message))?.[1] ?? { text: reason(message) };
}

/** What is said of a link that was refused: our own refusals are sentences already, the extractor's words are not. */
export function refusalAdvice(message: string): Advice {
  return /^ERROR:|internal address|private address/i.test(message) ? whatToDo({ message }) : { text: message };
}

/** The extractor's own words without its marks. */
export function reason(message: string): string {
  return message.replace(/^ERROR:\s*(\[[^\]]*\]\s*)?/, '');
}
