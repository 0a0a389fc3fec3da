import type { EngineName } from '../../../services/contracts/engines.ts';
import { runCommand } from './command.ts';

export type Answer = { readonly version: string } | { readonly reason: string };

/** Asks an executable for its version; one that does not answer is broken. */
export async function askVersion(name: EngineName, path: string): Promise<Answer> {
  // A cold start of yt-dlp on a busy machine takes many seconds.
  const result = await runCommand(path, [name === 'yt-dlp' ? '--version' : '-version'], { timeoutMs: 60_000 });
  if (!result.ok) return { reason: result.reason };
  const version = parseVersion(name, result.stdout);
  return version === undefined ? { reason: 'its answer is not a version' } : { version };
}

/** `2026.10.26`, or the second word of `ffmpeg version 5.1.9-0+deb12u1 Copyright …`. */
function parseVersion(name: EngineName, stdout: string): string | undefined {
  const first = stdout.split('\n', 1)[0]?.trim() ?? '';
  const pattern = name === 'yt-dlp' ? /^(\d{4}\.\d{2}\.\d{2}[.\w]*)$/ : new RegExp(`^${name} version (\\S+)`);
  return pattern.exec(first)?.[1];
}
