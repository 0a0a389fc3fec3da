import type { EngineName } from '../../../services/contracts/control/engines.ts';
import { runCommand } from './command.ts';

export type Answer = { readonly version: string } | { readonly reason: string };

/** Oldest release of the library whose plugins are asked the way we ask them. */
const oldestApprise = [1, 9] as const;

/** Asks an executable for its version; one that does not answer, or is too old, is broken. */
export async function askVersion(name: EngineName, path: string): Promise<Answer> {
  // A cold start of yt-dlp on a busy machine takes many seconds.
  const result = await runCommand(path, [name === 'yt-dlp' || name === 'apprise' ? '--version' : '-version'], {
    timeoutMs: 60_000,
  });
  if (!result.ok) return { reason: result.reason };
  const version = parseVersion(name, result.stdout);
  if (version === undefined) return { reason: 'its answer is not a version' };
  if (name === 'apprise' && isOlder(version)) return { reason: `version ${version} is older than 1.9` };
  return { version };
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldestApprise[0] || (major === oldestApprise[0] && minor < oldestApprise[1]);
}

/** `2026.10.26`, `Apprise v2.2.0`, or the second word of `ffmpeg version 5.1.9-0+deb12u1 Copyright …`. */
function parseVersion(name: EngineName, stdout: string): string | undefined {
  const first = stdout.split('\n', 1)[0]?.trim() ?? '';
  if (name === 'apprise') return /^Apprise v(\d+\.\d+[.\w]*)$/.exec(first)?.[1];
  const pattern = name === 'yt-dlp' ? /^(\d{4}\.\d{2}\.\d{2}[.\w]*)$/ : new RegExp(`^${name} version (\\S+)`);
  return pattern.exec(first)?.[1];
}
