import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Engines } from '../../contracts/control/engines.ts';
import { findProgram } from '../../kit/platform/find-program.ts';

const run = promisify(execFile);
const timeoutMs = 10_000;

/** Runtimes that yt-dlp supports, in its order of preference, with the oldest supported version. */
const runtimes = [
  ['deno', [2, 3, 0]],
  ['node', [22, 0, 0]],
  ['bun', [1, 2, 11]],
] as const;

type RuntimeName = (typeof runtimes)[number][0];

/** JavaScript runtime that runs the scripts of sites such as YouTube. */
export interface JavaScriptRuntime {
  /** Command line arguments, which name the runtime that was found last. */
  readonly args: readonly string[];
  /** Finds the name and version of the runtime; null without one. */
  find(this: void): Promise<string | null>;
}

/** Finds programs and reads their versions. */
export interface RuntimeSearch {
  /** Returns the absolute path of a runtime; undefined when it is not installed. */
  locate(name: RuntimeName): Promise<string | undefined>;
  /** Returns what the runtime prints as its version; empty when it does not answer. */
  readVersion(path: string): Promise<string>;
}

/**
 * Selects the JavaScript runtime: the Node of this process. A packaged desktop app must not run as Node (its fuses
 * prevent it) and uses the engine Deno or a runtime of the system. The extractor gets its path, since the PATH of a
 * desktop app is short.
 */
export function selectJavaScriptRuntime(
  search: RuntimeSearch,
  self: Pick<NodeJS.Process, 'execPath' | 'versions'> = process,
): JavaScriptRuntime {
  if (self.versions['electron'] === undefined) {
    return {
      args: ['--no-js-runtimes', '--js-runtimes', `node:${self.execPath}`],
      find: () => Promise.resolve(`node ${self.versions.node}`),
    };
  }
  let args: readonly string[] = ['--no-js-runtimes'];
  return {
    get args() {
      return args;
    },
    find: async () => {
      const runtime = await findFirst(search);
      args = ['--no-js-runtimes', ...(runtime === null ? [] : ['--js-runtimes', `${runtime.name}:${runtime.path}`])];
      return runtime === null ? null : `${runtime.name} ${runtime.version}`;
    },
  };
}

/** Searches for the engine Deno and for runtimes of the system. Reads the version of an installed file once. */
export function createRuntimeSearch(engines: Pick<Engines, 'find'>): RuntimeSearch {
  const versions = new Map<string, { readonly file: string; readonly answer: Promise<string> }>();
  return {
    locate: async (name) => (name === 'deno' ? ((await engines.find('deno')).path ?? undefined) : findProgram(name)),
    async readVersion(path) {
      const file = await identifyFile(path);
      if (file === undefined) return '';
      const cached = versions.get(path);
      if (cached?.file === file) return await cached.answer;
      const entry = { file, answer: runForVersion(path) };
      versions.set(path, entry);
      const text = await entry.answer;
      // A runtime that did not answer is tried again with the next request: the computer may have been busy.
      if (text === '' && versions.get(path) === entry) versions.delete(path);
      return text;
    },
  };
}

/** Identifies the content of a file, which an update replaces; undefined for a missing file. */
async function identifyFile(path: string): Promise<string | undefined> {
  const status = await stat(path).catch(() => undefined);
  return status && [status.dev, status.ino, status.size, status.mtimeMs].join(' ');
}

async function runForVersion(path: string): Promise<string> {
  try {
    return (await run(path, ['--version'], { timeout: timeoutMs, windowsHide: true })).stdout;
  } catch {
    return ''; // Not executable, or no answer in time.
  }
}

interface FoundRuntime {
  readonly name: RuntimeName;
  readonly path: string;
  readonly version: string;
}

async function findFirst(search: RuntimeSearch): Promise<FoundRuntime | null> {
  for (const [name, minVersion] of runtimes) {
    const path = await search.locate(name);
    if (path === undefined) continue;
    const version = /\d+\.\d+\.\d+/.exec(await search.readVersion(path))?.[0];
    if (version !== undefined && isAtLeast(version.split('.').map(Number), minVersion)) return { name, path, version };
  }
  return null;
}

function isAtLeast(version: readonly number[], minVersion: readonly number[]): boolean {
  const difference = version.findIndex((part, index) => part !== minVersion[index]);
  return difference < 0 || (version[difference] ?? 0) > (minVersion[difference] ?? 0);
}
