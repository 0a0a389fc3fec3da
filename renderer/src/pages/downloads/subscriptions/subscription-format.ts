import type { Subscription } from '../../../../../services/contracts/downloads/subscriptions.ts';
import { formatName, qualityName } from '../media-options.svelte.ts';
import { whatToDo, type Advice } from '../download-status.ts';

/** Minutes between two checks that are offered, in words. */
const offered: readonly (readonly [number, string])[] = [
  [15, 'every 15 minutes'],
  [30, 'every 30 minutes'],
  [60, 'every hour'],
  [180, 'every 3 hours'],
  [360, 'every 6 hours'],
  [720, 'every 12 hours'],
  [1440, 'every day'],
  [10_080, 'every week'],
];

/** `every hour`, `every 45 minutes` */
export function everyWords(minutes: number): string {
  return offered.find(([each]) => each === minutes)?.[1] ?? `every ${String(minutes)} minutes`;
}

/** Choices for a select, with what is set now among them. */
export function everyChoices(now: number): readonly (readonly [string, string])[] {
  const all = offered.some(([minutes]) => minutes === now) ? offered : [...offered, [now, everyWords(now)] as const];
  return [...all].sort(([a], [b]) => a - b).map(([minutes, words]) => [String(minutes), words] as const);
}

/** `in 5 min`, `in 3 h`; what is due is `soon`. */
export function ahead(time: number, now: number): string {
  const minutes = Math.ceil((time - now) / 60_000);
  if (minutes <= 0) return 'soon';
  if (minutes < 60) return `in ${String(minutes)}\u00a0min`;
  if (minutes < 48 * 60) return `in ${String(Math.round(minutes / 60))}\u00a0h`;
  return `in ${String(Math.round(minutes / 1440))}\u00a0days`;
}

/** Checking it again does not help: what it was is elsewhere now, or gone. */
export function isGone(error: string): boolean {
  return /HTTP Error (404|410)/.test(error);
}

const kinds = { audio: 'Audio', captions: 'Subtitles', thumbnail: 'Pictures' } as const;

/** What is made of each video, and where it goes: `1080p MP4 into Kitchen`. */
export function mediaWords({ kind, quality, format, folder }: Subscription): string {
  const picture = quality === 'best' ? 'Best quality' : qualityName(quality);
  const what = kind === 'video' ? picture : kinds[kind];
  const form = format === 'any' ? '' : ` ${formatName(format)}`;
  return `${what}${form} into ${folder === '' ? 'the download folder' : folder}`;
}

/** `3 new videos`; what was there when it was subscribed to does not count. */
export function foundWords(found: number): string {
  if (found === 0) return 'No new video yet';
  return found === 1 ? '1 new video' : `${found.toLocaleString('en')} new videos`;
}

/** What to do about a check that failed. */
export function checkAdvice(error: string): Advice {
  return isGone(error) ? { text: 'Nothing is at its address any more.' } : whatToDo({ message: error });
}

/** What of the subscriptions is shown. */
export const shows = [
  ['', 'All'],
  ['failing', 'Failing'],
  ['paused', 'Paused'],
] as const;

/** Those that have all words in their name or address, in the order they are in. */
export function fitting(
  all: readonly Subscription[],
  words: string,
  show: (typeof shows)[number][0],
): readonly Subscription[] {
  const wanted = words.toLowerCase().split(/\s+/);
  return all.filter(({ name, url, enabled, error }) => {
    if (show === 'failing' && (error === null || !enabled)) return false;
    if (show === 'paused' && enabled) return false;
    const text = `${name} ${url}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
