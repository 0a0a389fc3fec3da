import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  EngineName,
  ShownEngineName,
  type Engine,
  type Engines,
  type EngineState,
  type EngineWork,
} from '../../../services/contracts/control/engines.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { EngineFolder } from './folder.ts';
import { officialRelease } from './official-release.ts';
import { libraryOf } from './library.ts';
import { apprise } from './apprise-pins.ts';
import { ytdlp } from './pins.ts';
import { configuredPath, systemPath, type EngineSettings } from './places.ts';
import { registryPackage } from './registry-package.ts';
import { rememberedPython } from './python.ts';
import { sizeOf } from './size.ts';
import { startLibrary } from './start.ts';
import { PassedOver, type Strategy } from './strategy.ts';
import { ffmpegPackage } from './system-packages.ts';
import { askVersion } from './version.ts';

export interface EngineOptions {
  /** The data folder; engines are installed below `<folder>/engines`. */
  readonly folder: string;
  /** Read at each look, so that a change counts without a restart. */
  readonly settings: () => EngineSettings;
  readonly log: Log;
  /** Where yt-dlp's releases are; tests give their own. */
  readonly releases?: string;
  /** Hears how an installation gets on; null when it has ended or the engine was removed. */
  readonly onWork?: (name: EngineName, work: EngineWork | null) => void;
}

/** Finds, installs, updates and removes the outside programs. */
export interface HostEngines extends Engines {
  /** Every engine there is a name for, looked for anew. */
  list(): Promise<Engine[]>;
  /**
   * Brings the pinned version onto this machine, or a package of the system; also the update. Running jobs keep the
   * version they were started with. @throws Problem `engines.not_installed` (503) which says why each way was passed over.
   */
  install(name: EngineName): Promise<Engine>;
  /**
   * Removes what {@link install} put into the data folder; programs of the system stay.
   * @throws Problem `engines.not_ours` (409) when there is nothing of ours, `engines.busy` (409) while it is installed.
   */
  remove(name: EngineName): Promise<void>;
  /** Every engine and Python, as they were found last. */
  states(): Promise<EngineState[]>;
  state(name: ShownEngineName, options?: { readonly refresh?: boolean }): Promise<EngineState>;
}

type Found = Pick<Engine, 'path' | 'version' | 'source'>;

/** Opens no resource: nothing is looked for before the first question. */
export function openEngines(options: EngineOptions): HostEngines {
  const root = join(options.folder, 'engines');
  const remembered = new Map<
    EngineName,
    { readonly key: string; readonly engine: Promise<Engine>; readonly at: number }
  >();
  const installing = new Map<EngineName, Promise<Engine>>();
  const works = new Map<EngineName, EngineWork>();
  const python = rememberedPython();

  const strategies = (name: EngineName): readonly Strategy[] =>
    name === 'yt-dlp'
      ? [officialRelease(options.releases ?? ytdlp.releases), registryPackage]
      : [name === 'apprise' ? registryPackage : ffmpegPackage];

  async function look(name: EngineName): Promise<Engine> {
    const configured = await configuredPath(name, options.settings());
    const candidates: { path: string; source: Found['source'] }[] = [];
    if (configured === undefined) {
      for (const path of await new EngineFolder(root, name).installed()) candidates.push({ path, source: 'data' });
      const path = await systemPath(name);
      if (path !== undefined) candidates.push({ path, source: 'system' });
    } else {
      // What the owner has set is used or complained about, never silently replaced.
      candidates.push({ path: configured, source: 'setting' });
    }
    const broken: string[] = [];
    for (const { path, source } of candidates) {
      const answer = await askVersion(name, path);
      if ('version' in answer) return { name, path, version: answer.version, source, remedy: null };
      broken.push(`${path} does not answer: ${answer.reason}.`);
      options.log.warn('engine does not answer', { engine: name, path, reason: answer.reason });
    }
    return { name, path: null, version: null, source: 'missing', remedy: remedy(name, configured, broken) };
  }

  async function find(name: EngineName, { refresh = false } = {}): Promise<Engine> {
    // Another process may have installed it: `homeport engines install` beside a host that runs.
    const installed = await new EngineFolder(root, name).current();
    const key = JSON.stringify([options.settings(), installed]);
    const known = remembered.get(name);
    if (known !== undefined && known.key === key && !refresh) return await known.engine;
    const engine = look(name);
    remembered.set(name, { key, engine, at: Date.now() });
    try {
      return await engine;
    } catch (error) {
      remembered.delete(name);
      throw error;
    }
  }

  function work(name: EngineName, now: EngineWork | null): void {
    if (now === null) works.delete(name);
    else works.set(name, now);
    options.onWork?.(name, now);
  }

  async function state(name: ShownEngineName, { refresh = false } = {}): Promise<EngineState> {
    if (name === 'python') return await python(refresh);
    const engine = await find(name, { refresh });
    return {
      ...engine,
      checkedAt: remembered.get(name)?.at ?? Date.now(),
      bytes: await sizeOf(engine, root),
      offered: { 'yt-dlp': ytdlp.version, apprise: apprise.version, ffmpeg: null, ffprobe: null }[name],
      configured: (await configuredPath(name, options.settings())) !== undefined,
      removable: engine.source === 'data',
      work: works.get(whole(name)) ?? null,
    };
  }

  async function installNow(name: EngineName): Promise<Engine> {
    const reasons: string[] = [];
    const report = (step: string, percent?: number): void => work(name, { step, percent: percent ?? null });
    for (const strategy of strategies(name)) {
      try {
        await strategy.install({ name, folder: new EngineFolder(root, name), log: options.log, report });
        const engine = await find(name, { refresh: true });
        if (name === 'ffmpeg') await find('ffprobe', { refresh: true });
        if (engine.path !== null) return engine;
        reasons.push(`${strategy.title}: installed, but ${engine.remedy}`);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        reasons.push(`${strategy.title}: ${reason}`);
        const fields = { engine: name, strategy: strategy.title, reason };
        if (error instanceof PassedOver) options.log.info('engine installation passed over', fields);
        else options.log.error('engine installation failed', { ...fields, error });
      }
    }
    const detail = `${name} could not be installed. ${reasons.join('; ')}. ${remedy(name, undefined, [])}`;
    throw new Problem('engines.not_installed', 503, detail);
  }

  async function install(asked: EngineName): Promise<Engine> {
    const name = whole(asked);
    const running = installing.get(name) ?? installNow(name);
    installing.set(name, running);
    try {
      const engine = await running;
      return asked === name ? engine : await find(asked);
    } finally {
      if (installing.delete(name)) work(name, null);
    }
  }

  return {
    find,
    async library(name) {
      const { path } = await find(name);
      return path === null ? undefined : await libraryOf(name, path);
    },
    start: startLibrary,
    install,
    async list() {
      return await Promise.all(EngineName.options.map(async (name) => await find(name, { refresh: true })));
    },
    async remove(name) {
      if (installing.has(name)) {
        throw new Problem('engines.busy', 409, `${name} is being installed. Wait until that has ended.`);
      }
      const folder = new EngineFolder(root, name);
      if ((await folder.installed()).length === 0) {
        throw new Problem('engines.not_ours', 409, `Homeport did not install ${name}, so it does not remove it.`);
      }
      await folder.remove();
      remembered.delete(name);
      work(name, null);
    },
    state,
    states: () => Promise.all(ShownEngineName.options.map((name) => state(name))),
  };
}

/** ffprobe comes and goes with ffmpeg. */
function whole(name: EngineName): EngineName {
  return name === 'ffprobe' ? 'ffmpeg' : name;
}

const advice = {
  'yt-dlp': 'Run "homeport engines install yt-dlp", or set YTDLP_PATH to an executable.',
  ffmpeg: `Install ffmpeg with your system's package manager${packageCommand()}, or set FFMPEG_PATH.`,
  apprise:
    'Install it here or with "homeport engines install apprise" if you need it, or set APPRISE_PATH to a program.',
} as const;

/** As it is typed here; a command that is not there helps nobody. */
function packageCommand(): string {
  if (process.platform === 'darwin') return ' ("brew install ffmpeg")';
  return existsSync('/usr/bin/apt-get') ? ' ("apt-get install ffmpeg", as root)' : '';
}

/** What to do about a missing engine, in one sentence after the reasons. */
function remedy(name: EngineName, configured: string | undefined, broken: readonly string[]): string {
  if (configured !== undefined) return `${broken.join(' ')} Correct its path in the settings, or clear it.`;
  return [...broken, advice[name === 'ffprobe' ? 'ffmpeg' : name]].join(' ');
}
