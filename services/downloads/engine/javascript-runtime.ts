import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const timeoutMs = 10_000;

/** Runtimes that yt-dlp supports, in its order of preference, with the oldest supported version. */
const runtimes = [
  ['deno', [2, 3, 0]],
  ['node', [22, 0, 0]],
  ['bun', [1, 2, 11]],
] as const;

/** JavaScript runtime that runs the scripts of sites such as YouTube. */
export interface JavaScriptRuntime {
  /** Command line arguments. */
  readonly args: readonly string[];
  /** Finds the name and version of the runtime; null without one. */
  find(this: void): Promise<string | null>;
}

export const missingRuntimeMessage =
  'There is no JavaScript runtime: YouTube and some other sites give less without one. Install Deno, or Node 22 or later.';

/**
 * Selects the JavaScript runtime: the Node of this process. A packaged desktop app must not run as Node (its fuses
 * prevent it) and uses the runtimes of the system, which the extractor finds.
 */
export function selectJavaScriptRuntime(
  self: Pick<NodeJS.Process, 'execPath' | 'versions'> = process,
  readVersion: (name: string) => Promise<string> = readInstalledVersion,
): JavaScriptRuntime {
  if (self.versions['electron'] === undefined) {
    return {
      args: ['--no-js-runtimes', '--js-runtimes', `node:${self.execPath}`],
      find: () => Promise.resolve(`node ${self.versions.node}`),
    };
  }
  let runtime: Promise<string | null> | undefined;
  return {
    args: ['--no-js-runtimes', ...runtimes.flatMap(([name]) => ['--js-runtimes', name])],
    find: () => (runtime ??= findFirst(readVersion)),
  };
}

async function findFirst(readVersion: (name: string) => Promise<string>): Promise<string | null> {
  for (const [name, minVersion] of runtimes) {
    const version = /\d+\.\d+\.\d+/.exec(await readVersion(name))?.[0];
    if (version !== undefined && isAtLeast(version.split('.').map(Number), minVersion)) return `${name} ${version}`;
  }
  return null;
}

function isAtLeast(version: readonly number[], minVersion: readonly number[]): boolean {
  const difference = version.findIndex((part, index) => part !== minVersion[index]);
  return difference < 0 || (version[difference] ?? 0) > (minVersion[difference] ?? 0);
}

/** Returns the version output of a program on the PATH, or an empty text. */
async function readInstalledVersion(name: string): Promise<string> {
  try {
    return (await run(name, ['--version'], { timeout: timeoutMs, windowsHide: true })).stdout;
  } catch {
    return ''; // Missing, or not executable.
  }
}
