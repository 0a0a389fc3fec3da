import * as m from '#messages/engine-texts';
import { formatList } from '../../../messages/format.ts';
import { readText, type Text } from '../../../services/contracts/text.ts';
import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { EngineState } from '../../../services/contracts/control/engines.ts';
import { runCommand } from './command.ts';
import type { EngineFolder } from './folder.ts';
import { oldestPython, type PythonFinder } from './python.ts';
import { getSize } from './size.ts';

export interface PythonStateOptions {
  readonly specs: readonly EngineSpec[];
  readonly python: PythonFinder;
  /** Folder of the Python that Homeport installs. */
  readonly folder: Pick<EngineFolder, 'current'>;
  /** Folder of all engines. */
  readonly enginesFolder: string;
}

/** State of Python without its running installation. */
type StoredState = Omit<EngineState, 'work' | 'purpose' | 'absence' | 'remedy'> & {
  readonly purpose: Text;
  readonly absence: Text;
  readonly remedy: Text | null;
};

/** State of Python as the Engines page shows it. Cached until Homeport's own Python changes or a refresh is requested. */
export class PythonState {
  readonly #options: PythonStateOptions;
  #cached: { readonly installed: string | undefined; readonly state: Promise<StoredState> } | undefined;

  constructor(options: PythonStateOptions) {
    this.#options = options;
  }

  async read(refresh: boolean): Promise<StoredState> {
    // An engine that was installed or removed meanwhile, also by another process, may have changed it.
    const installed = await this.#options.folder.current();
    if (refresh || this.#cached?.installed !== installed) this.forget();
    this.#cached ??= { installed, state: readPythonState(this.#options) };
    return await this.#cached.state;
  }

  /** Makes the next {@link read} search again, for a Python that was installed into the system. */
  forget(): void {
    this.#cached = undefined;
  }
}

async function readPythonState({ specs, python, enginesFolder }: PythonStateOptions): Promise<StoredState> {
  const libraries = specs.filter(({ python: library }) => library !== undefined);
  const interpreter = await python.locate();
  const path = interpreter?.path ?? null;
  const answer = path === null ? undefined : await runCommand(path, ['--version'], { timeoutMs: 30_000 });
  return {
    name: 'python',
    purpose: () => m.pythonRuns({ engines: formatList(libraries.map(({ title }) => title)) }),
    absence: () => libraries.map(({ python: library }) => readText(library?.without ?? '')).join(' '),
    removal: '',
    optional: true,
    installable: false,
    path,
    version: /^Python (\S+)/.exec(answer?.stdout ?? '')?.[1] ?? null,
    source: interpreter?.source ?? 'missing',
    remedy: path === null ? () => m.pythonRemedy({ version: oldestPython }) : null,
    checkedAt: Date.now(),
    bytes: await getSize({ path }, enginesFolder),
    offered: null,
    configured: false,
    setting: null,
    removable: false,
    failure: null,
    byHand: null,
  };
}
