import * as m from '#messages/downloads-problems';
import type { Engine } from '../../contracts/control/engines.ts';

/** The oldest release of yt-dlp that supports all used options. */
const minVersion = [2025, 11, 12] as const;

/** Explains why the extractor cannot be used, and the remedy; undefined when it can be used. */
export function findEngineProblem({ path, version, remedy, source }: Engine): string | undefined {
  if (path === null) return remedy ? m.ytDlpMissingWithRemedy({ remedy }) : m.ytDlpMissing();
  // A version is a date; other versions are accepted.
  const versionParts = /^(\d{4})\.(\d{1,2})\.(\d{1,2})/
    .exec(version ?? '')
    ?.slice(1)
    .map(Number);
  if (versionParts === undefined || !isOlder(versionParts, minVersion)) return undefined;
  const versions = { version: version ?? '', minimum: minVersion.join('.') };
  return source === 'setting' ? m.ytDlpTooOldInSettings(versions) : m.ytDlpTooOld(versions);
}

function isOlder(parts: readonly number[], other: readonly number[]): boolean {
  const difference = parts.findIndex((part, index) => part !== other[index]);
  return difference >= 0 && (parts[difference] ?? 0) < (other[difference] ?? 0);
}
