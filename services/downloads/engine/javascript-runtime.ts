import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const patienceMs = 10_000;

/** Runtimes that yt-dlp knows, the one it trusts most first, and the first release of each that it takes. */
const known = [
  ['deno', [2, 3, 0]],
  ['node', [22, 0, 0]],
  ['bun', [1, 2, 11]],
] as const;

/** Who runs the scripts of sites (YouTube's, above all) for the extractor. */
export interface JavaScript {
  /** For the command line. */
  readonly args: readonly string[];
  /** Name and version of what is used; null where there is none. */
  find(this: void): Promise<string | null>;
}

export const noJavaScript =
  'There is no JavaScript runtime: YouTube and some other sites give less without one. Install Deno, or Node 22 or later.';

/**
 * The Node that runs us. A packed desktop app is no Node and must not become one (its fuses see to that): there it is
 * what the system has, found by the extractor itself.
 */
export function javaScriptOf(
  self: Pick<NodeJS.Process, 'execPath' | 'versions'> = process,
  versionOf: (name: string) => Promise<string> = installed,
): JavaScript {
  if (self.versions['electron'] === undefined) {
    return {
      args: ['--no-js-runtimes', '--js-runtimes', `node:${self.execPath}`],
      find: () => Promise.resolve(`node ${self.versions.node}`),
    };
  }
  let found: Promise<string | null> | undefined;
  return {
    args: ['--no-js-runtimes', ...known.flatMap(([name]) => ['--js-runtimes', name])],
    find: () => (found ??= firstOf(versionOf)),
  };
}

async function firstOf(versionOf: (name: string) => Promise<string>): Promise<string | null> {
  for (const [name, oldest] of known) {
    const version = /\d+\.\d+\.\d+/.exec(await versionOf(name))?.[0];
    if (version !== undefined && isAtLeast(version.split('.').map(Number), oldest)) return `${name} ${version}`;
  }
  return null;
}

function isAtLeast(version: readonly number[], oldest: readonly number[]): boolean {
  const place = version.findIndex((part, index) => part !== oldest[index]);
  return place < 0 || (version[place] ?? 0) > (oldest[place] ?? 0);
}

/** What a program on the PATH says of its version; nothing where there is none. */
async function installed(name: string): Promise<string> {
  try {
    return (await run(name, ['--version'], { timeout: patienceMs, windowsHide: true })).stdout;
  } catch {
    return ''; // Not there, or not able to run here.
  }
}
