import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { PythonLibrary } from '../../../services/contracts/control/engine-spec.ts';
import { getPackages } from './wheels.ts';

const maxScriptBytes = 64 * 1024;

/** Returns a script that runs the interpreter with the packages beside the script. */
export function buildLauncher(python: string, run: string, platform: NodeJS.Platform): string {
  if (platform === 'win32') {
    const program = python.replaceAll('%', '%%');
    const lines = [
      '@chcp 65001 >nul',
      '@set "PYTHONPATH=%~dp0packages"',
      '@set "PYTHONNOUSERSITE=1"',
      `@"${program}" ${run.replaceAll("'", '"')} %*`,
    ];
    return `${lines.join('\r\n')}\r\n`;
  }
  const quoted = `'${python.replaceAll("'", `'\\''`)}'`;
  return `#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
PYTHONPATH="$here/packages" PYTHONNOUSERSITE=1 exec ${quoted} ${run} "$@"
`;
}

/** Returns the interpreter of a launcher, for which compiled packages were installed. */
export function parseLauncher(script: string): string | undefined {
  const windows = /^@"([^"]+)" -[mc] /m.exec(script)?.[1]?.replaceAll('%%', '%');
  return windows ?? /exec '([^']+)' (?:-[mc] |"\$here\/)/.exec(script)?.[1];
}

export interface LaunchCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Returns the command behind a launcher for Windows, since scripts cannot be started there without a shell; undefined for
 * an executable.
 */
export async function readLaunchCommand(
  path: string,
  python: PythonLibrary | undefined,
): Promise<LaunchCommand | undefined> {
  if (python === undefined || !path.endsWith('.cmd')) return undefined;
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  const file = size > 0 && size <= maxScriptBytes ? parseLauncher(await readFile(path, 'utf8')) : undefined;
  const [, option, code] = /^(-[mc]) '?([^']+)'?$/.exec(python.run) ?? [];
  if (file === undefined || option === undefined || code === undefined) return undefined;
  const environment = { PYTHONPATH: getPackages(dirname(path)), PYTHONNOUSERSITE: '1' };
  return { file, args: [option, code], environment };
}
