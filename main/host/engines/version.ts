import * as m from '#messages/engine-texts';
import type { Text } from '../../../services/contracts/text.ts';
import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import { isOlderVersion } from '../../../services/contracts/control/engine-version.ts';
import { runCommand } from './command.ts';
import { readLaunchCommand } from './launcher.ts';
import { mayRun } from './places.ts';

export type Answer = { readonly version: string } | { readonly reason: Text };

/** Runs an executable to get its version; one that does not answer, or is too old, counts as broken. */
export async function askVersion(
  { version: versionSpec, python }: Pick<EngineSpec, 'version' | 'python'>,
  path: string,
  platform: NodeJS.Platform,
): Promise<Answer> {
  if (!(await mayRun(path, platform))) return { reason: m.commandLineToolsMissing };
  const launch = await readLaunchCommand(path, python);
  // A cold start of yt-dlp on a busy computer takes many seconds.
  const result = await runCommand(launch?.file ?? path, [...(launch?.args ?? []), ...versionSpec.arguments], {
    timeoutMs: 60_000,
    ...(launch !== undefined && { environment: launch.environment }),
  });
  if (!result.ok) return { reason: result.reason };
  const version = versionSpec.pattern.exec(result.stdout.split('\n', 1)[0]?.trim() ?? '')?.[1];
  if (version === undefined) return { reason: m.versionUnreadable };
  if (versionSpec.oldest !== undefined && isOlderVersion(version, versionSpec.oldest)) {
    const { oldest } = versionSpec;
    return { reason: () => m.versionTooOld({ version, oldest }) };
  }
  return { version };
}
