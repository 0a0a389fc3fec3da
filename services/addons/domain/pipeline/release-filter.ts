import type { AddonConfig } from '../config.ts';
import type { Removal } from './removal.ts';
import { isAboutRequest } from './scope.ts';
import type { Wanted } from './title-request.ts';

const day = 24 * 3_600_000;
/** What was in cinemas a year ago is out, whatever the lists say. */
const surelyOutDays = 365;

/** Whether a configuration wants to know when what is asked for comes out. */
export function looksAtRelease({ digitalReleaseFilter }: AddonConfig, wanted: Wanted): boolean {
  return isAboutRequest(digitalReleaseFilter, wanted);
}

/** Why nobody can have what is asked for yet; undefined where somebody can, or nobody knows. */
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
