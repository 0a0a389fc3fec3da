import type { Subscription } from '../../../../../services/contracts/downloads/subscriptions.ts';
import { getFormatLabel, getQualityLabel } from '../add/media-options.svelte.ts';
import { getFailureAdvice, type Advice } from '../queue/download-status.ts';

/** Check intervals in minutes, with their labels. */
const intervalLabels: readonly (readonly [number, string])[] = [
  [15, 'every 15 minutes'],
  [30, 'every 30 minutes'],
  [60, 'every hour'],
  [180, 'every 3 hours'],
  [360, 'every 6 hours'],
  [720, 'every 12 hours'],
  [1440, 'every day'],
  [10_080, 'every week'],
];

/** Formats a check interval, such as `every hour` or `every 45 minutes`. */
export function formatInterval(minutes: number): string {
  return intervalLabels.find(([each]) => each === minutes)?.[1] ?? `every ${String(minutes)} minutes`;
}

/** Builds the options of the interval field, including the current value. */
export function buildIntervalOptions(now: number): readonly (readonly [string, string])[] {
  const all = intervalLabels.some(([minutes]) => minutes === now)
    ? intervalLabels
    : [...intervalLabels, [now, formatInterval(now)] as const];
  return [...all].sort(([a], [b]) => a - b).map(([minutes, label]) => [String(minutes), label] as const);
}

/** Formats the time until a check, such as `in 5 min` or `in 3 h`; `soon` when it is due. */
export function formatTimeUntil(time: number, now: number): string {
  const minutes = Math.ceil((time - now) / 60_000);
  if (minutes <= 0) return 'soon';
  if (minutes < 60) return `in ${String(minutes)}\u00a0min`;
  if (minutes < 48 * 60) return `in ${String(Math.round(minutes / 60))}\u00a0h`;
  return `in ${String(Math.round(minutes / 1440))}\u00a0days`;
}

/** Returns whether the page was moved or deleted, which another attempt cannot solve. */
export function isPageMissing({ failure }: Pick<Subscription, 'failure'>): boolean {
  return failure === 'not_found';
}

const kindLabels = { audio: 'Audio', captions: 'Subtitles', thumbnail: 'Pictures' } as const;

/** Formats the quality and folder of new videos, such as `1080p MP4 into Kitchen`. */
export function formatMedia({ kind, quality, format, folder }: Subscription): string {
  const qualityLabel = quality === 'best' ? 'Best quality' : getQualityLabel(quality);
  const kindLabel = kind === 'video' ? qualityLabel : kindLabels[kind];
  const formatLabel = format === 'any' ? '' : ` ${getFormatLabel(format)}`;
  return `${kindLabel}${formatLabel} into ${folder === '' ? 'the download folder' : folder}`;
}

/** Formats the number of new videos; those that existed at the time of subscribing do not count. */
export function formatVideoCount(count: number): string {
  if (count === 0) return 'No new video yet';
  return count === 1 ? '1 new video' : `${count.toLocaleString('en')} new videos`;
}

/** Returns advice about a failed check. */
export function getCheckAdvice(subscription: Pick<Subscription, 'error' | 'failure'>): Advice {
  const { error, failure } = subscription;
  return isPageMissing(subscription)
    ? { text: 'Nothing is at its address any more.' }
    : getFailureAdvice({ message: error, failure });
}

/** Filters of the subscription list, with their labels. */
export const subscriptionFilters = [
  ['', 'All'],
  ['failing', 'Failing'],
  ['paused', 'Paused'],
] as const;

/** Filters subscriptions by the words of a search in name or address, in the same order. */
export function filterSubscriptions(
  all: readonly Subscription[],
  search: string,
  filter: (typeof subscriptionFilters)[number][0],
): readonly Subscription[] {
  const searchWords = search.toLowerCase().split(/\s+/);
  return all.filter(({ name, url, enabled, error }) => {
    if (filter === 'failing' && (error === null || !enabled)) return false;
    if (filter === 'paused' && enabled) return false;
    const text = `${name} ${url}`.toLowerCase();
    return searchWords.every((word) => text.includes(word));
  });
}
