import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import { runCommand } from './command.ts';
import { readLaunchCommand } from './launcher.ts';
import { mayRun } from './places.ts';

export type Answer = { readonly version: string } | { readonly reason: string };

/** Runs an executable to get its version; one that does not answer, or is too old, counts as broken. */
export async function askVersion(
  { version: versionSpec, python }: Pick<EngineSpec, 'version' | 'python'>,
  path: string,
  platform: NodeJS.Platform,
): Promise<Answer> {
  if (!(await mayRun(path, platform))) return { reason: "Apple's Command Line Tools are not installed" };
  const launch = await readLaunchCommand(path, python);
  // A cold start of yt-dlp on a busy computer takes many seconds.
  const result = await runCommand(launch?.file ?? path, [...(launch?.args ?? []), ...versionSpec.arguments], {
    timeoutMs: 60_000,
    ...(launch !== undefined && { environment: launch.environment }),
  });
  if (!result.ok) return { reason: result.reason };
  const version = versionSpec.pattern.exec(result.stdout.split('\n', 1)[0]?.trim() ?? '')?.[1];
  if (version === undefined) return { reason: 'its answer is not a version' };
  if (versionSpec.oldest !== undefined && isOlder(version, versionSpec.oldest)) {
    return { reason: `version ${version} is older than ${versionSpec.oldest}` };
  }
  return { version };
}

function isOlder(version: string, oldest: string): boolean {
  const numbers = (text: string): readonly number[] => text.split('.').map((part) => Number.parseInt(part, 10));
  const foundVersion = numbers(version);
  for (const [at, least] of numbers(oldest).entries()) {
    const part = foundVersion[at] ?? 0;
    if (part !== least) return part < least;
  }
  return false;
}
