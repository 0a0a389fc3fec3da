import type { AddonConfig } from '../config.ts';
import type { ParsedStream } from '../stream.ts';
import type { Removal } from './removal.ts';
import type { Wanted } from './title-match.ts';

const day = 24 * 3_600_000;
/** What was in cinemas a year ago is out, whatever the lists say. */
const surelyOutDays = 365;

/** Whether a configuration wants to know when what is asked for comes out. */
export function looksAtRelease({ digitalReleaseFilter: filter }: AddonConfig, wanted: Wanted): boolean {
  if (filter?.enabled !== true) return false;
  const kinds = filter.requestTypes ?? [];
  return kinds.length === 0 || kinds.includes(wanted.type) || (wanted.anime && kinds.includes('anime'));
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

/** Whether the filter is about the streams of this addon. */
export function isAboutAddon({ digitalReleaseFilter }: AddonConfig, { addon }: ParsedStream): boolean {
  const list = digitalReleaseFilter?.addons ?? [];
  return list.length === 0 || list.includes(addon.instanceId) || list.includes(addon.instanceId.slice(0, -4));
}

function problem(date: number | undefined): Removal {
  return {
    rule: 'Not Released',
    value: date === undefined ? 'no date is known' : new Date(date).toISOString().slice(0, 10),
  };
}
