import { stat } from 'node:fs/promises';
import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { EngineState } from '../../../services/contracts/control/engines.ts';
import { runCommand } from './command.ts';
import { oldestPython, type PythonFinder } from './python.ts';

/** Returns a function that finds Python on first use and on request. */
export function rememberPython(
  specs: readonly EngineSpec[],
  python: PythonFinder,
): (refresh: boolean) => Promise<EngineState> {
  let cached: Promise<EngineState> | undefined;
  return async (refresh) => {
    if (cached === undefined || refresh) cached = readPythonState(specs, python);
    return await cached;
  };
}

async function readPythonState(specs: readonly EngineSpec[], python: PythonFinder): Promise<EngineState> {
  const libraries = specs.filter(({ python: library }) => library !== undefined);
  const interpreter = await python.locate();
  const path = interpreter?.path ?? null;
  const answer = path === null ? undefined : await runCommand(path, ['--version'], { timeoutMs: 30_000 });
  return {
    name: 'python',
    purpose: `Runs ${libraries.map(({ title }) => title).join(' and ')}.`,
    absence: libraries.map(({ python: library }) => library?.without ?? '').join(' '),
    removal: '',
    optional: true,
    installable: false,
    path,
    version: /^Python (\S+)/.exec(answer?.stdout ?? '')?.[1] ?? null,
    source: interpreter?.source ?? 'missing',
    remedy:
      path === null
        ? `Install Python ${oldestPython} or newer, or an engine that needs it: Homeport then installs Python as well.`
        : null,
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
