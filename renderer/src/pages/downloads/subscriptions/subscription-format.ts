import * as m from '#messages/downloads';
import type { Subscription } from '../../../../../services/contracts/downloads/subscriptions.ts';
import { getFormatLabel, getQualityLabel } from '../add/media-options.svelte.ts';
import { getFailureAdvice, type Advice } from '../queue/download-status.ts';
import { containsTerms } from '../../../state/search-text.ts';

/** Check intervals to choose from, in minutes. */
const intervals = [15, 30, 60, 180, 360, 720, 1440, 10_080];

/** Formats a check interval, such as `every hour` or `every 45 minutes`. */
export function formatInterval(minutes: number): string {
  if (minutes < 60 || !intervals.includes(minutes)) return m.everyMinutes({ count: minutes });
  if (minutes < 1440) return m.everyHours({ count: minutes / 60 });
  return minutes === 1440 ? m.everyDay() : m.everyWeek();
}

/** Builds the options of the interval field, including the current value. */
export function buildIntervalOptions(now: number): readonly (readonly [string, string])[] {
  const all = intervals.includes(now) ? intervals : [...intervals, now];
  return all.toSorted((a, b) => a - b).map((minutes) => [String(minutes), formatInterval(minutes)] as const);
}

/** Formats the time until a check, such as `in 5 min` or `in 3 h`; `soon` when it is due. */
export function formatTimeUntil(time: number, now: number): string {
  const minutes = Math.ceil((time - now) / 60_000);
  if (minutes <= 0) return m.soon();
  if (minutes < 60) return m.inMinutes({ count: minutes });
  if (minutes < 48 * 60) return m.inHours({ count: Math.round(minutes / 60) });
  return m.inDays({ count: Math.round(minutes / 1440) });
}

/** Returns whether the page was moved or deleted, which another attempt cannot solve. */
export function isPageMissing({ failure }: Pick<Subscription, 'failure'>): boolean {
  return failure === 'not_found';
}

const kindLabels = { audio: m.audio, captions: m.subtitles, thumbnail: m.pictures } as const;

/** Formats the quality and folder of new videos, such as `1080p MP4 into Kitchen`. */
export function formatMedia({ kind, quality, format, folder }: Subscription): string {
  const qualityLabel = quality === 'best' ? m.bestQuality() : getQualityLabel(quality);
  const kindLabel = kind === 'video' ? qualityLabel : kindLabels[kind]();
  const formatLabel = format === 'any' ? '' : ` ${getFormatLabel(format)}`;
  const media = `${kindLabel}${formatLabel}`;
  return folder === '' ? m.mediaIntoDownloadFolder({ media }) : m.mediaIntoFolder({ media, folder });
}

/** Formats the number of new videos; those that existed at the time of subscribing do not count. */
export function formatVideoCount(count: number): string {
  return m.newVideos({ count });
}

/** Returns advice about a failed check. */
export function getCheckAdvice(subscription: Pick<Subscription, 'error' | 'failure' | 'failureParameters'>): Advice {
  const { error, failure, failureParameters } = subscription;
  return isPageMissing(subscription)
    ? { text: m.pageMissing() }
    : getFailureAdvice({ message: error, failure, failureParameters });
}

/** Returns the filters of the subscription list, with their labels. */
export const getSubscriptionFilters = () =>
  [
    ['', m.allSubscriptions()],
    ['failing', m.failingSubscriptions()],
    ['paused', m.pausedSubscriptions()],
  ] as const;

/** Filters subscriptions by the words of a search in name or address, in the same order. */
export function filterSubscriptions(
  all: readonly Subscription[],
  search: string,
  filter: ReturnType<typeof getSubscriptionFilters>[number][0],
): readonly Subscription[] {
  return all.filter(({ name, url, enabled, error }) => {
    if (filter === 'failing' && (error === null || !enabled)) return false;
    if (filter === 'paused' && enabled) return false;
    return containsTerms(`${name} ${url}`, search);
  });
}
