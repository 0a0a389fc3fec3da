import { runCommand } from './command.ts';
import type { EngineFolder } from './folder.ts';
import { mayRun, systemPath } from './places.ts';

/** Oldest version that the libraries' own metadata accept. */
const [major, minor] = [3, 11];
export const oldestPython = `${major}.${minor}`;

/** Python interpreter, and whether it belongs to this computer or was installed by Homeport. */
export interface FoundPython {
  readonly path: string;
  readonly source: 'system' | 'data';
}

/** Finds a sufficiently new Python: one of this computer, or the one that Homeport installed for its own use. */
export class PythonFinder {
  readonly #platform: NodeJS.Platform;
  readonly #folder: EngineFolder;

  /** @param folder Folder of the Python that Homeport installs. */
  constructor(platform: NodeJS.Platform, folder: EngineFolder) {
    this.#platform = platform;
    this.#folder = folder;
  }

  /** Returns the absolute path of a Python (with pip, if requested); undefined when there is none. */
  async find(options: { readonly pip?: boolean } = {}): Promise<string | undefined> {
    return (await this.locate(options))?.path;
  }

  async locate({ pip = false }: { readonly pip?: boolean } = {}): Promise<FoundPython | undefined> {
    for (const name of getPythonNames(this.#platform)) {
      const path = name.startsWith('/') ? name : await systemPath(name, this.#platform);
      if (path === undefined || !(await mayRun(path, this.#platform))) continue;
      const executable = await askExecutable(path, pip);
      if (executable !== undefined) return { path: executable, source: 'system' };
    }
    for (const path of await this.#folder.installed()) {
      if ((await askExecutable(path, pip)) !== undefined) return { path, source: 'data' };
    }
    return undefined;
  }
}

/** Returns the path that a sufficiently new interpreter reports as its own. */
async function askExecutable(path: string, pip: boolean): Promise<string | undefined> {
  const importPip = pip ? 'import pip; ' : '';
  const check = `import sys; assert sys.version_info >= (${major}, ${minor}); ${importPip}print(sys.executable)`;
  // A shim (pyenv, asdf) depends on the current folder; the interpreter behind it does not.
  const result = await runCommand(path, ['-I', '-c', check], { timeoutMs: 30_000 });
  const executable = result.stdout.trim();
  return result.ok && executable !== '' ? executable : undefined;
}

/** Returns the names of Python's program. The installer of Windows creates `python` and the launcher `py`. */
export function getPythonNames(platform: NodeJS.Platform): readonly string[] {
  const versions = ['python3.14', 'python3.13', 'python3.12', 'python3.11'];
  return platform === 'win32' ? ['python3', 'python', 'py'] : ['python3', '/usr/bin/python3', ...versions];
}
