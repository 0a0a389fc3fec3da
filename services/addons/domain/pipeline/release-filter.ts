import type { AddonConfig } from '../config.ts';
import type { Removal } from './removal.ts';
import { isAboutRequest } from './scope.ts';
import type { Wanted } from './title-request.ts';

const day = 24 * 3_600_000;
/** Films are considered released one year after the cinema release, even without a date. */
const surelyOutDays = 365;

/** Returns true when a configuration hides titles that are not released. */
export function looksAtRelease({ digitalReleaseFilter }: AddonConfig, wanted: Wanted): boolean {
  return isAboutRequest(digitalReleaseFilter, wanted);
}

/** Returns the reason why an unreleased title is hidden, or undefined when it is released or its date is unknown. */
export function releaseProblem(config: AddonConfig, wanted: Wanted): Removal | undefined {
  if (!looksAtRelease(config, wanted)) return undefined;
  const { now = 0, facts, digital, season, episode } = wanted;
  const latest = now + (config.digitalReleaseFilter?.tolerance ?? 0) * day;
  if (wanted.type === 'movie') {
    if (digital === undefined) return undefined;
    const first = facts?.released ?? digital.cinema;
    if (digital.dates.some((date) => date <= latest)) return undefined;
    if (first !== undefined && now - first > surelyOutDays * day) return undefined;
    const next = digital.dates.toSorted((one, other) => one - other)[0];
    if (next === undefined && first === undefined) return undefined;
    return problem(next);
  }
  const released = facts?.episodes.find((one) => one.season === season && one.episode === episode)?.released;
  return released === undefined || released <= latest ? undefined : problem(released);
}

function problem(date: number | undefined): Removal {
  return {
    rule: 'Not Released',
    value: date === undefined ? 'no date is known' : new Date(date).toISOString().slice(0, 10),
  };
}
