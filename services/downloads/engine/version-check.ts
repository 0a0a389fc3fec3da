import type { Engine } from '../../contracts/control/engines.ts';

/** The release from which yt-dlp knows every option that we give it. */
const oldest = [2025, 11, 12] as const;

/** What is wrong with the extractor as it was found, and what to do about it; undefined when it can be used. */
export function lackOf({ path, version, remedy, source }: Engine): string | undefined {
  if (path === null) return `yt-dlp is missing. ${remedy ?? 'Install it on the page Engines.'}`;
  // A release is its day; of one that is not, nothing is known.
  const day = /^(\d{4})\.(\d{1,2})\.(\d{1,2})/
    .exec(version ?? '')
    ?.slice(1)
    .map(Number);
  if (day === undefined || !isBefore(day, oldest)) return undefined;
  const where = source === 'setting' ? 'Name another one in the settings.' : 'Update it on the page Engines.';
  return `yt-dlp ${version ?? ''} is too old: it must be of ${oldest.join('.')} or later. ${where}`;
}

function isBefore(day: readonly number[], other: readonly number[]): boolean {
  const place = day.findIndex((part, index) => part !== other[index]);
  return place >= 0 && (day[place] ?? 0) < (other[place] ?? 0);
}
