import * as m from '#messages/engine-texts';
import type { EngineProgress } from '../../../services/contracts/control/engine-progress.ts';
import { readText, readTexts, type Text } from '../../../services/contracts/text.ts';
import type { Computer, EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type {
  Engine,
  EngineLibrary,
  Engines,
  EngineState,
  EngineWork,
} from '../../../services/contracts/control/engines.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { runOutsideRequests } from '../../../services/kit/language.ts';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import { executableName } from '../../../services/kit/platform/executables.ts';
import { EngineFolder } from './folder.ts';
import { Installations } from './installations.ts';
import { EngineInstaller } from './installer.ts';
import { findLibrary } from './library.ts';
import { readPackageManager } from './package-manager.ts';
import { configuredPath, systemPath, type EnginePaths } from './places.ts';
import { pythonRelease } from './python-release.ts';
import { PythonState } from './python-state.ts';
import { PythonFinder } from './python.ts';
import { canInstall, describeMissing, getInstallCommand, type MissingEngine } from './remedy.ts';
import { getSize } from './size.ts';
import { startLibrary } from './start.ts';
import { offeredVersion } from './specs.ts';
import { askVersion } from './version.ts';

export interface EngineOptions {
  /** Folder of the installed engines; each has a subfolder with its name. */
  readonly folder: string;
  /** Engines of the services' manifests. */
  readonly specs: readonly EngineSpec[];
  /** Returns the paths of the settings; called for each search, so that a change needs no restart. */
  readonly paths: () => EnginePaths;
  readonly log: Log;
  /** Base address that replaces those of the publishers, for tests. */
  readonly releases?: string;
  /** System and processor that engines are installed for. Default: those of this process. */
  readonly computer?: Computer;
  /** True when {@link HostEngines.installMissing} is called soon, so that services wait for its result. */
  readonly installsMissing?: boolean;
  /** Called with the progress of an installation; null when it has ended or the engine was removed. */
  readonly onWork?: (name: string, work: EngineProgress | null) => void;
}

/** Finds, installs, updates and removes external programs. */
export interface HostEngines extends Engines {
  /** Searches all engines again. */
  list(): Promise<Engine[]>;
  /**
   * Installs or updates to the pinned version, or a package of the system. Running jobs continue with the version
   * they were started with.
   * @throws Problem `engines.not_installed` (503) with the reason for each source.
   */
  install(name: string): Promise<Engine>;
  /**
   * Removes what {@link install} put into the data folder; programs of the system are not affected.
   * @throws Problem `engines.not_ours` (409) when nothing was installed by Homeport, `engines.busy` (409) during an
   * installation.
   */
  remove(name: string): Promise<void>;
  /** Names of required engines: all but optional ones and parts of others. */
  readonly needed: readonly string[];
  /**
   * Installs those of the engines that are required and missing. The installations run concurrently, so that none is
   * reported missing while it waits for another. Callers that wait for other engines continue.
   */
  installMissing(names: readonly string[]): Promise<void>;
  /** Last known state of every engine and Python. */
  states(): Promise<EngineState[]>;
  state(name: string, options?: { readonly refresh?: boolean }): Promise<EngineState>;
}

type FoundEngine = Pick<Engine, 'path' | 'version' | 'source'>;

/** Creates the engines; opens no resource and searches nothing before the first call. */
export function openEngines(options: EngineOptions): HostEngines {
  return new EngineRegistry(options);
}

interface CachedEngine {
  /** Paths and installed versions that the search depends on. */
  readonly key: string;
  readonly engine: Promise<Engine>;
  readonly at: number;
}

class EngineRegistry implements HostEngines {
  readonly needed: readonly string[];
  readonly start = startLibrary;
  readonly #options: EngineOptions;
  readonly #computer: Computer;
  readonly #python: PythonFinder;
  readonly #installer: EngineInstaller;
  readonly #cache = new Map<string, CachedEngine>();
  readonly #installations: Installations;
  readonly #works = new Map<string, EngineWork>();
  readonly #failures = new Map<string, Text>();
  readonly #pythonState: PythonState;

  constructor(options: EngineOptions) {
    const { specs, installsMissing } = options;
    this.#options = options;
    this.#computer = options.computer ?? getThisComputer();
    const pythonFolder = this.#getFolder(pythonRelease);
    this.#python = new PythonFinder(this.#computer.platform, pythonFolder);
    this.#installer = new EngineInstaller({
      specs,
      computer: this.#computer,
      python: this.#python,
      getFolder: (spec) => this.#getFolder(spec),
      log: options.log,
      onPythonWork: (work) => this.#setPythonWork(work),
      ...(options.releases !== undefined && { releases: options.releases }),
    });
    this.needed = specs.filter(({ optional, partOf }) => !optional && partOf === undefined).map(({ name }) => name);
    this.#installations = new Installations({
      install: (name) => this.#installNow(name),
      onEnd: (name) => this.#setWork(name, null),
      due: installsMissing === true ? this.needed : [],
    });
    this.#pythonState = new PythonState({
      specs,
      python: this.#python,
      folder: pythonFolder,
      enginesFolder: options.folder,
    });
  }

  async find(name: string, { refresh = false } = {}): Promise<Engine> {
    const spec = this.#getSpec(name);
    // Another process may have installed it: `homeport engines install` beside a running host.
    const installed = await this.#getFolder(spec).current();
    const key = JSON.stringify([this.#options.paths(), installed]);
    const cached = this.#cache.get(name);
    if (cached !== undefined && cached.key === key && !refresh) return await cached.engine;
    // Other callers receive the same result.
    const engine = runOutsideRequests(() => this.#search(spec));
    this.#cache.set(name, { key, engine, at: Date.now() });
    try {
      return await engine;
    } catch (error) {
      this.#cache.delete(name);
      throw error;
    }
  }

  async settled(name: string): Promise<void> {
    await this.#installations.settled(this.#getRootName(name));
  }

  async library(name: string): Promise<EngineLibrary | undefined> {
    const { path } = await this.find(name);
    const options = { platform: this.#computer.platform, python: this.#python };
    return path === null ? undefined : await findLibrary(this.#getSpec(name), path, options);
  }

  working(name: string): EngineWork | undefined {
    return this.#works.get(this.#getRootName(name));
  }

  async list(): Promise<Engine[]> {
    return await Promise.all(this.#options.specs.map(async ({ name }) => await this.find(name, { refresh: true })));
  }

  async install(requestedName: string): Promise<Engine> {
    const name = this.#getRootName(requestedName);
    const engine = await this.#installations.run(name);
    return requestedName === name ? engine : await this.find(requestedName);
  }

  async installMissing(names: readonly string[]): Promise<void> {
    const required = this.needed.filter((name) => names.includes(name));
    await this.#installations.search(required, (name) => this.#installIfMissing(name));
  }

  async remove(requestedName: string): Promise<void> {
    const name = this.#getRootName(requestedName);
    const spec = this.#getSpec(name);
    if (this.#installations.running.includes(name)) {
      throw new Problem('engines.busy', 409, m.busy({ engine: name }));
    }
    const folder = this.#getFolder(spec);
    if ((await folder.installed()).length === 0) {
      throw new Problem('engines.not_ours', 409, m.notOurs({ engine: name }));
    }
    await folder.remove();
    if (spec.python !== undefined) await this.#removeUnusedPython();
    this.#cache.clear();
    this.#failures.delete(name);
    this.#setWork(name, null);
  }

  async state(name: string, { refresh = false } = {}): Promise<EngineState> {
    if (name === 'python') {
      return readTexts({ ...(await this.#pythonState.read(refresh)), work: this.#works.get(name) ?? null });
    }
    const { folder, paths } = this.#options;
    const spec = this.#getSpec(name);
    const rootName = this.#getRootName(name);
    const engine = await this.find(name, { refresh });
    const failure = this.#failures.get(rootName);
    const { purpose, absence, removal, optional = false, partOf } = spec;
    return {
      ...engine,
      purpose: readText(purpose),
      absence: readText(absence),
      removal: readText(removal),
      optional,
      installable: canInstall(spec, this.#computer),
      checkedAt: this.#cache.get(name)?.at ?? Date.now(),
      bytes: await getSize(engine, partOf === undefined ? folder : undefined),
      offered: this.#getOffer(spec, engine),
      configured: (await configuredPath(spec, paths(), this.#computer.platform)) !== undefined,
      setting: (spec.path ?? this.#getSpec(rootName).path)?.setting ?? null,
      removable: engine.source === 'data' && partOf === undefined,
      work: this.#works.get(rootName) ?? null,
      failure: engine.path === null && failure !== undefined ? readText(failure) : null,
      byHand: engine.path === null ? (getInstallCommand(spec, this.#computer) ?? null) : null,
    };
  }

  states(): Promise<EngineState[]> {
    const { specs } = this.#options;
    const names = specs.map(({ name }) => name);
    if (specs.some((spec) => spec.python !== undefined)) names.push('python');
    return Promise.all(names.map((name) => this.state(name)));
  }

  #getSpec(name: string): EngineSpec {
    const spec = this.#options.specs.find((each) => each.name === name);
    if (spec === undefined) throw new Problem('control.unknown_engine', 404, m.unknown());
    return spec;
  }

  /** Returns the name of the engine that it is installed and removed with. */
  #getRootName(name: string): string {
    return this.#getSpec(name).partOf ?? name;
  }

  #getFolder({ name, partOf = name, location }: EngineSpec): EngineFolder {
    const { platform } = this.#computer;
    const program = location?.[platform] ?? executableName(name, platform);
    return new EngineFolder(this.#options.folder, partOf, { platform, program });
  }

  /** Returns the version that an installation provides. The system updates its own programs, except those that age. */
  #getOffer(spec: EngineSpec, { source }: Engine): string | null {
    return source === 'system' && spec.needsLatest !== true ? null : offeredVersion(spec, this.#computer);
  }

  /** Removes the Python of Homeport when no engine runs with it, or is being installed with it. */
  async #removeUnusedPython(): Promise<void> {
    const libraries = this.#options.specs.filter(({ python }) => python !== undefined);
    if (libraries.some(({ name }) => this.#installations.running.includes(name))) return;
    const installed = await Promise.all(libraries.map((spec) => this.#getFolder(spec).installed()));
    if (installed.every((paths) => paths.length === 0)) await this.#getFolder(pythonRelease).remove();
  }

  /** Searches for an engine in the setting, the data folder and the system, and reads its version. */
  async #search(spec: EngineSpec): Promise<Engine> {
    const { name } = spec;
    const { log, paths } = this.#options;
    const { platform } = this.#computer;
    const configured = await configuredPath(spec, paths(), platform);
    const candidates: { path: string; source: FoundEngine['source'] }[] = [];
    if (configured === undefined) {
      for (const path of await this.#getFolder(spec).installed()) candidates.push({ path, source: 'data' });
      const path = await systemPath(name, platform);
      if (path !== undefined) candidates.push({ path, source: 'system' });
    } else {
      // A path set by the owner is used or reported, never silently replaced.
      candidates.push({ path: configured, source: 'setting' });
    }
    const broken: Text[] = [];
    for (const { path, source } of candidates) {
      const answer = await askVersion(spec, path, platform);
      if ('version' in answer) return { name, path, version: answer.version, source, remedy: null };
      const { reason } = answer;
      broken.push(() => m.notResponding({ path, reason: readText(reason) }));
      log.warn('engine version check failed', { engine: name, path, reason: readText(reason) });
    }
    const missing = describeMissing(this.#getSpec(this.#getRootName(name)), this.#computer, {
      isSet: configured !== undefined,
      broken,
    });
    return toMissingEngine(name, missing);
  }

  #setWork(name: string, work: EngineProgress | null): void {
    if (work === null) this.#works.delete(name);
    else this.#works.set(name, toWork(work));
    this.#options.onWork?.(name, work);
  }

  #setPythonWork(work: EngineProgress | null): void {
    if (work === null) this.#pythonState.forget();
    this.#setWork(pythonRelease.name, work);
  }

  /** Tries the sources of an engine in their order. */
  async #installNow(name: string): Promise<Engine> {
    this.#failures.delete(name);
    const spec = this.#getSpec(name);
    const result = await this.#installer.install(spec, {
      report: (step, percent) => this.#setWork(name, { step, percent: percent ?? null }),
      find: () => this.#findInstalled(name),
    });
    if ('name' in result) return result;
    const failure = (): string => m.notInstalled({ engine: name, reasons: result.map(readText).join(' ') });
    this.#failures.set(name, failure);
    const { remedy } = describeMissing(spec, this.#computer, { isSet: false, broken: [] });
    const detail = (): string => m.notInstalledRemedy({ failure: failure(), remedy: readText(remedy) });
    throw new Problem('engines.not_installed', 503, detail);
  }

  /** Searches an installed engine and its parts again. */
  async #findInstalled(name: string): Promise<Engine> {
    const engine = await this.find(name, { refresh: true });
    const parts = this.#options.specs.filter(({ partOf }) => partOf === name);
    for (const part of parts) await this.find(part.name, { refresh: true });
    return engine;
  }

  async #installIfMissing(name: string): Promise<void> {
    try {
      const isMissing = (await this.find(name)).path === null;
      if (isMissing && canInstall(this.#getSpec(name), this.#computer)) await this.install(name);
    } catch (error) {
      this.#options.log.warn('engine installation failed', { engine: name, error });
    }
  }
}

/** Returns a missing engine whose texts are those of the current language whenever they are read. */
function toMissingEngine(name: string, { remedy, problem, mend }: MissingEngine): Engine {
  const engine: Engine = { name, path: null, version: null, source: 'missing', remedy: null };
  const define = (field: keyof Engine, get: () => unknown): void =>
    void Object.defineProperty(engine, field, { get, enumerable: true });
  define('remedy', () => readText(remedy));
  if (problem !== undefined) define('problem', () => readText(problem));
  if (mend !== undefined) define('mend', () => readTexts(mend));
  return engine;
}

/** Returns the progress with the step in the current language whenever it is read. */
function toWork({ step, percent }: EngineProgress): EngineWork {
  return {
    get step() {
      return readText(step);
    },
    percent,
  };
}

function getThisComputer(): Computer {
  return { platform: currentPlatform, arch: process.arch, packageManager: readPackageManager(currentPlatform) };
}
