import { stat } from 'node:fs/promises';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { EngineState } from '../../../services/contracts/control/engines.ts';
import { runCommand } from './command.ts';
import { mayRun, systemPath } from './places.ts';

/** Oldest version that the libraries' own metadata accept. */
const [major, minor] = [3, 11];
export const oldestPython = `${major}.${minor}`;

/** Returns the absolute path of a sufficiently new Python (with pip, if requested); undefined when there is none. */
export async function findPython(options: { readonly pip?: boolean } = {}): Promise<string | undefined> {
  const importPip = options.pip === true ? 'import pip; ' : '';
  const check = `import sys; assert sys.version_info >= (${major}, ${minor}); ${importPip}print(sys.executable)`;
  for (const name of getPythonNames(currentPlatform)) {
    const path = name.startsWith('/') ? name : await systemPath(name);
    if (path === undefined || !(await mayRun(path, currentPlatform))) continue;
    // A shim (pyenv, asdf) depends on the current folder; the interpreter behind it does not.
    const result = await runCommand(path, ['-I', '-c', check], { timeoutMs: 30_000 });
    const executable = result.stdout.trim();
    if (result.ok && executable !== '') return executable;
  }
  return undefined;
}

/** Returns the names of Python's program. The installer of Windows creates `python` and the launcher `py`. */
export function getPythonNames(platform: NodeJS.Platform): readonly string[] {
  const versions = ['python3.14', 'python3.13', 'python3.12', 'python3.11'];
  return platform === 'win32' ? ['python3', 'python', 'py'] : ['python3', '/usr/bin/python3', ...versions];
}

/** Returns a function that finds Python on first use and on request. */
export function rememberedPython(specs: readonly EngineSpec[]): (refresh: boolean) => Promise<EngineState> {
  let cached: Promise<EngineState> | undefined;
  return async (refresh) => {
    if (cached === undefined || refresh) cached = pythonState(specs);
    return await cached;
  };
}

async function pythonState(specs: readonly EngineSpec[]): Promise<EngineState> {
  const libraries = specs.filter(({ python }) => python !== undefined);
  const path = (await findPython()) ?? null;
  const answer = path === null ? undefined : await runCommand(path, ['--version'], { timeoutMs: 30_000 });
  return {
    name: 'python',
    purpose: `Runs ${libraries.map(({ title }) => title).join(' and ')}.`,
    absence: libraries.map(({ python }) => python?.without ?? '').join(' '),
    removal: '',
    optional: true,
    installable: false,
    path,
    version: /^Python (\S+)/.exec(answer?.stdout ?? '')?.[1] ?? null,
    source: path === null ? 'missing' : 'system',
    remedy: path === null ? `Install Python ${oldestPython} or newer with your system's package manager.` : null,
    checkedAt: Date.now(),
    bytes: path === null ? null : ((await stat(path).catch(() => undefined))?.size ?? null),
    offered: null,
    configured: false,
    setting: null,
    removable: false,
    work: null,
    failure: null,
    byHand: null,
  };
}
