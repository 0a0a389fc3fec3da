import type { AddonConfig } from '../config.ts';
import type { Removal } from '../removal.ts';
import { appliesToRequest } from './scope.ts';
import type { TitleRequest } from '../title-request.ts';

const dayMs = 24 * 3_600_000;
/** Films are considered released one year after the cinema release, even without a date. */
const assumedReleaseDays = 365;

/** Returns true when a configuration hides titles that are not released. */
export function usesReleaseDates({ digitalReleaseFilter }: AddonConfig, titleRequest: TitleRequest): boolean {
  return appliesToRequest(digitalReleaseFilter, titleRequest);
}

/** Returns the reason why an unreleased title is hidden, or undefined when it is released or its date is unknown. */
export function findReleaseRemoval(config: AddonConfig, titleRequest: TitleRequest): Removal | undefined {
  if (!usesReleaseDates(config, titleRequest)) return undefined;
  const { now = 0, facts, digital, season, episode } = titleRequest;
  const latestDate = now + (config.digitalReleaseFilter?.tolerance ?? 0) * dayMs;
  if (titleRequest.type === 'movie') {
    if (digital === undefined) return undefined;
    const firstRelease = facts?.released ?? digital.cinema;
    if (digital.dates.some((date) => date <= latestDate)) return undefined;
    if (firstRelease !== undefined && now - firstRelease > assumedReleaseDays * dayMs) return undefined;
    const nextDate = digital.dates.toSorted((a, b) => a - b)[0];
    if (nextDate === undefined && firstRelease === undefined) return undefined;
    return createRemoval(nextDate);
  }
  const released = facts?.episodes.find((entry) => entry.season === season && entry.episode === episode)?.released;
  return released === undefined || released <= latestDate ? undefined : createRemoval(released);
}

function createRemoval(date: number | undefined): Removal {
  return {
    rule: 'Not Released',
    cause: 'release_date',
    ...(date === undefined
      ? ({ value: 'no date is known', note: 'no_date' } as const)
      : { value: new Date(date).toISOString().slice(0, 10) }),
  };
}
