import type { Engine } from '../../contracts/control/engines.ts';

/** The oldest release of yt-dlp that supports all used options. */
const minVersion = [2025, 11, 12] as const;

/** Explains why the extractor cannot be used, and the remedy; undefined when it can be used. */
export function findEngineProblem({ path, version, remedy, source }: Engine): string | undefined {
  if (path === null) return `yt-dlp is missing. ${remedy ?? 'Install it on the page Engines.'}`;
  // A version is a date; other versions are accepted.
  const versionParts = /^(\d{4})\.(\d{1,2})\.(\d{1,2})/
    .exec(version ?? '')
    ?.slice(1)
    .map(Number);
  if (versionParts === undefined || !isOlder(versionParts, minVersion)) return undefined;
  const remedyText = source === 'setting' ? 'Name another one in the settings.' : 'Update it on the page Engines.';
  return `yt-dlp ${version ?? ''} is too old: it must be of ${minVersion.join('.')} or later. ${remedyText}`;
}

function isOlder(parts: readonly number[], other: readonly number[]): boolean {
  const difference = parts.findIndex((part, index) => part !== other[index]);
  return difference >= 0 && (parts[difference] ?? 0) < (other[difference] ?? 0);
}
