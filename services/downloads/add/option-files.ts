import { runInEnglish } from '../../kit/language.ts';
import * as m from '#messages/downloads-problems';
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Context } from '../../contracts/service.ts';
import { findIgnoredOptions, type Options } from '../domain/options.ts';
import type { Settings } from '../settings.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { RepeatingTask } from '../../kit/repeating-task.ts';

/** Interval of the check for changes, which also works on file systems without change notifications. */
const checkIntervalMs = 1000;

/** Maximum number of options that a message lists. */
const maxListedOptions = 5;

const OptionSet = z.record(z.string(), z.unknown());
const OptionSets = z.record(z.string().min(1).max(100), OptionSet);

/** Result of a reload of the options, in MeTube's format. */
export interface OptionsReload {
  readonly success: boolean;
  readonly msg: string;
  /** Modification time of the file in seconds since the epoch; null when it is not known. */
  readonly update_time: number | null;
}

type OptionSettings = Pick<Settings, 'ytdlOptions' | 'ytdlPresets' | 'ytdlOptionsFile' | 'ytdlPresetsFile'>;

/** Provides the effective options and presets: those of the settings, overridden by those of the option files. */
export class OptionFiles implements Disposable {
  #settings: OptionSettings;
  readonly #context: Pick<Context, 'clock' | 'log'>;
  readonly #subscribers = new Set<(reload: OptionsReload) => void>();
  readonly #fileVersions = new Map<string, string>();
  readonly #problems = new Map<string, () => string>();
  #options: Options;
  #presets: Readonly<Record<string, Options>>;
  #reload: OptionsReload | undefined;
  #timer: Disposable | undefined;
  #isStarted = false;

  constructor(settings: OptionSettings, context: Pick<Context, 'clock' | 'log'>) {
    const { ytdlOptions, ytdlPresets, ytdlOptionsFile, ytdlPresetsFile } = settings;
    this.#settings = { ytdlOptions, ytdlPresets, ytdlOptionsFile, ytdlPresetsFile };
    this.#context = context;
    this.#options = settings.ytdlOptions;
    this.#presets = settings.ytdlPresets;
  }

  get options(): Options {
    return this.#options;
  }

  /** Presets by name. */
  get presets(): Readonly<Record<string, Options>> {
    return this.#presets;
  }

  /** Describes the problems of the files for the user; undefined without problems. */
  get problem(): string | undefined {
    return [...this.#problems.values()].map((text) => text()).join(' ') || undefined;
  }

  /** Lists ignored options that the user relies on; undefined without any. */
  get ignoredOptions(): string | undefined {
    const sets = [this.#options, ...Object.values(this.#presets)];
    const relevant = sets.flatMap(findIgnoredOptions).filter(({ isRelevant }) => isRelevant);
    if (relevant.length === 0) return undefined;
    const names = [...new Set(relevant.map(({ option, reason }) => `${option} (${reason})`))];
    const options = names.slice(0, maxListedOptions).join(', ');
    const count = names.length - maxListedOptions;
    return count > 0 ? m.moreOptionsIgnored({ options, count }) : m.optionsIgnored({ options });
  }

  /** Result of the last reload of the options; undefined without a file. */
  get reload(): OptionsReload | undefined {
    return this.#reload;
  }

  /** Subscribes to the results of reloads. */
  subscribe(subscriber: (reload: OptionsReload) => void): Disposable {
    this.#subscribers.add(subscriber);
    return { [Symbol.dispose]: () => void this.#subscribers.delete(subscriber) };
  }

  /** Applies changed settings. */
  async apply(settings: OptionSettings): Promise<void> {
    const names = ['ytdlOptions', 'ytdlPresets', 'ytdlOptionsFile', 'ytdlPresetsFile'] as const;
    const next = Object.fromEntries(names.map((name) => [name, settings[name]])) as OptionSettings;
    if (isDeepStrictEqual(next, this.#settings)) return;
    this.#settings = next;
    this.#options = next.ytdlOptions;
    this.#presets = next.ytdlPresets;
    this.#reload = undefined;
    this.#fileVersions.clear();
    this.#problems.clear();
    this.#timer?.[Symbol.dispose]();
    if (this.#isStarted) await this.start();
  }

  /** Reads the files, and reads them again after each change. */
  async start(): Promise<void> {
    this.#isStarted = true;
    const { ytdlOptionsFile, ytdlPresetsFile, ytdlOptions, ytdlPresets } = this.#settings;
    this.#logIgnored(ytdlOptions);
    for (const preset of Object.values(ytdlPresets)) this.#logIgnored(preset);
    if (ytdlOptionsFile === '' && ytdlPresetsFile === '') return;
    await this.#check();
    const { clock, log } = this.#context;
    const onError = (error: unknown): void => log.error('option files not readable', { error });
    this.#timer = new RepeatingTask(() => this.#check(), { clock, intervalMs: checkIntervalMs, onError });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  async #check(): Promise<void> {
    const { ytdlOptionsFile, ytdlPresetsFile, ytdlOptions, ytdlPresets } = this.#settings;
    await this.#read(ytdlOptionsFile, (content, writtenAt) => {
      const parsed = OptionSet.safeParse(content).data;
      const reason = parsed === undefined ? m.optionFileNotObject : undefined;
      if (parsed !== undefined) {
        this.#options = { ...ytdlOptions, ...parsed };
        this.#logIgnored(parsed);
      }
      this.#reload = {
        success: reason === undefined,
        msg: reason === undefined ? '' : 'it must hold a JSON object',
        update_time: writtenAt,
      };
      for (const subscriber of this.#subscribers) subscriber(this.#reload);
      return reason;
    });
    await this.#read(ytdlPresetsFile, (content) => {
      const parsedSets = OptionSets.safeParse(content).data;
      if (parsedSets === undefined) return m.presetFileNotObjects;
      this.#presets = { ...ytdlPresets, ...parsedSets };
      for (const preset of Object.values(parsedSets)) this.#logIgnored(preset);
      return undefined;
    });
  }

  /**
   * Reads a file that changed since the last read; `take` returns the reason why its content cannot be used. An
   * unreadable file changes nothing.
   */
  async #read(
    path: string,
    apply: (content: unknown, writtenAt: number | null) => ((parameters: { file: string }) => string) | undefined,
  ): Promise<void> {
    if (path === '') return;
    const file = resolve(path);
    const stats = await stat(file, { bigint: true }).catch(() => undefined);
    const version = stats === undefined ? 'missing' : `${stats.ino} ${stats.mtimeNs} ${stats.size}`;
    if (this.#fileVersions.get(file) === version) return;
    this.#fileVersions.set(file, version);
    const content = stats === undefined ? undefined : await readJson(file);
    const reason = apply(content, stats === undefined ? null : Number(stats.mtimeNs) / 1e9);
    const { log } = this.#context;
    if (reason === undefined) {
      this.#problems.delete(file);
      log.info('option file read', { file });
    } else {
      const describe = stats === undefined ? m.optionFileMissing : reason;
      this.#problems.set(file, () => describe({ file }));
      log.warn('option file ignored', { file, reason: runInEnglish(() => describe({ file })) });
    }
  }

  #logIgnored(options: Options): void {
    // A request may have changed the settings.
    for (const { option, reason, isRelevant } of runInEnglish(() => findIgnoredOptions(options))) {
      this.#context.log[isRelevant ? 'warn' : 'info']('yt-dlp option ignored', { option, reason });
    }
  }
}

async function readJson(file: string): Promise<unknown> {
  // Incomplete or not JSON: the caller reports the expected format.
  return parseJson(await readFile(file, 'utf8').catch(() => ''));
}
