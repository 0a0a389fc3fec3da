import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import { executableName } from '../../../services/kit/platform/executables.ts';
import { findProgram } from '../../../services/kit/platform/find-program.ts';
import { runCommand } from './command.ts';

/** Paths set by the owner, by engine: an executable, or its folder. */
export type EnginePaths = Readonly<Record<string, string>>;

/** Returns the path of the engine from the settings; undefined when not set. */
export async function configuredPath(
  { name, partOf }: Pick<EngineSpec, 'name' | 'partOf'>,
  paths: EnginePaths,
  platform: NodeJS.Platform,
): Promise<string | undefined> {
  const set = (paths[name] ?? paths[partOf ?? ''])?.trim();
  if (set === undefined || set === '') return undefined;
  const isFolder = (await stat(set).catch(() => undefined))?.isDirectory() ?? false;
  if (isFolder) return join(set, executableName(name, platform));
  if (partOf === undefined) return set;
  // The setting names the whole engine; its parts are beside it.
  return join(dirname(set), basename(set).replace(partOf, name));
}

/**
 * Returns whether a program may be started without a dialog: on a Mac without Apple's developer tools those in `/usr/bin`
 * are only placeholders, which ask to install the tools.
 */
export async function mayRun(path: string, platform: NodeJS.Platform): Promise<boolean> {
  if (platform !== 'darwin' || !/^\/usr\/bin\/(git|python3)$/.test(path)) return true;
  return (await runCommand('xcode-select', ['-p'], { timeoutMs: 10_000 })).ok;
}

/** Returns the path of a program of the system that may be started. */
export async function systemPath(name: string, platform: NodeJS.Platform): Promise<string | undefined> {
  return await findProgram(name, { platform, accepts: (path) => mayRun(path, platform) });
}
