import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Context } from '../../contracts/service.ts';
import { optionsLeftOut, type Options } from '../domain/options.ts';
import type { Settings } from '../settings.ts';

/** A change is seen within this time; also on file systems that tell of none. */
const lookEveryMs = 1000;

/** Options that a sentence names. */
const maxNamed = 5;

const OneSet = z.record(z.string(), z.unknown());
const Sets = z.record(z.string().min(1).max(100), OneSet);

/** What a reload of the options has led to, as the peer's clients hear it. */
export interface OptionsReload {
  readonly success: boolean;
  readonly msg: string;
  /** When the file was written, seconds since the epoch; null where it cannot be told. */
  readonly update_time: number | null;
}

type Given = Pick<Settings, 'ytdlOptions' | 'ytdlPresets' | 'ytdlOptionsFile' | 'ytdlPresetsFile'>;

/** The options and presets in effect: those of the settings, and over them those of the files that the settings name. */
export class OptionFiles implements Disposable {
  #given: Given;
  readonly #context: Pick<Context, 'clock' | 'log'>;
  readonly #followers = new Set<(reload: OptionsReload) => void>();
  readonly #seen = new Map<string, string>();
  readonly #problems = new Map<string, string>();
  #options: Options;
  #presets: Readonly<Record<string, Options>>;
  #reload: OptionsReload | undefined;
  #timer: Disposable | undefined;
  #looking = false;
  #started = false;

  constructor(given: Given, context: Pick<Context, 'clock' | 'log'>) {
    const { ytdlOptions, ytdlPresets, ytdlOptionsFile, ytdlPresetsFile } = given;
    this.#given = { ytdlOptions, ytdlPresets, ytdlOptionsFile, ytdlPresetsFile };
    this.#context = context;
    this.#options = given.ytdlOptions;
    this.#presets = given.ytdlPresets;
  }

  get options(): Options {
    return this.#options;
  }

  /** By their names. */
  get presets(): Readonly<Record<string, Options>> {
    return this.#presets;
  }

  /** What is wrong with the files, for a person; undefined when nothing is. */
  get problem(): string | undefined {
    return [...this.#problems.values()].join(' ') || undefined;
  }

  /** Options that their owner misses, in a sentence for the page; undefined where there are none. */
  get leftOut(): string | undefined {
    const sets = [this.#options, ...Object.values(this.#presets)];
    const missed = sets.flatMap(optionsLeftOut).filter(({ isMissed }) => isMissed);
    if (missed.length === 0) return undefined;
    const names = [...new Set(missed.map(({ option, reason }) => `${option} (${reason})`))];
    const more = names.length > maxNamed ? ` and ${String(names.length - maxNamed)} more` : '';
    return `Options of yt-dlp are left out: ${names.slice(0, maxNamed).join(', ')}${more}.`;
  }

  /** The last reload of the options; undefined where no file is named. */
  get reload(): OptionsReload | undefined {
    return this.#reload;
  }

  /** Hears of each reload of the options from now on. */
  follow(follower: (reload: OptionsReload) => void): Disposable {
    this.#followers.add(follower);
    return { [Symbol.dispose]: () => void this.#followers.delete(follower) };
  }

  /** Takes changed settings over. */
  async use(given: Given): Promise<void> {
    const names = ['ytdlOptions', 'ytdlPresets', 'ytdlOptionsFile', 'ytdlPresetsFile'] as const;
    const next = Object.fromEntries(names.map((name) => [name, given[name]])) as Given;
    if (isDeepStrictEqual(next, this.#given)) return;
    this.#given = next;
    this.#options = next.ytdlOptions;
    this.#presets = next.ytdlPresets;
    this.#reload = undefined;
    this.#seen.clear();
    this.#problems.clear();
    this.#timer?.[Symbol.dispose]();
    if (this.#started) await this.start();
  }

  /** Reads the files, and again whenever they change. */
  async start(): Promise<void> {
    this.#started = true;
    const { ytdlOptionsFile, ytdlPresetsFile, ytdlOptions, ytdlPresets } = this.#given;
    this.#logLeftOut(ytdlOptions);
    for (const preset of Object.values(ytdlPresets)) this.#logLeftOut(preset);
    if (ytdlOptionsFile === '' && ytdlPresetsFile === '') return;
    await this.#look();
    this.#timer = this.#context.clock.every(lookEveryMs, () => {
      if (this.#looking) return;
      this.#looking = true;
      this.#look()
        .catch((error: unknown) => this.#context.log.error('files with options could not be looked at', { error }))
        .finally(() => (this.#looking = false));
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  async #look(): Promise<void> {
    const { ytdlOptionsFile, ytdlPresetsFile, ytdlOptions, ytdlPresets } = this.#given;
    await this.#read(ytdlOptionsFile, (content, writtenAt) => {
      const found = OneSet.safeParse(content).data;
      const reason = found === undefined ? 'it must hold a JSON object' : undefined;
      if (found !== undefined) {
        this.#options = { ...ytdlOptions, ...found };
        this.#logLeftOut(found);
      }
      this.#reload = { success: reason === undefined, msg: reason ?? '', update_time: writtenAt };
      for (const follower of this.#followers) follower(this.#reload);
      return reason;
    });
    await this.#read(ytdlPresetsFile, (content) => {
      const found = Sets.safeParse(content).data;
      if (found === undefined) return 'it must hold a JSON object of objects';
      this.#presets = { ...ytdlPresets, ...found };
      for (const preset of Object.values(found)) this.#logLeftOut(preset);
      return undefined;
    });
  }

  /** Takes a file that has changed since it was read; `take` says why it cannot be used. What cannot be read changes nothing. */
  async #read(path: string, take: (content: unknown, writtenAt: number | null) => string | undefined): Promise<void> {
    if (path === '') return;
    const file = resolve(path);
    const found = await stat(file).catch(() => undefined);
    const mark = found === undefined ? 'missing' : `${found.ino} ${found.mtimeMs} ${found.size}`;
    if (this.#seen.get(file) === mark) return;
    this.#seen.set(file, mark);
    const content = found === undefined ? undefined : await readJson(file);
    const reason = take(content, found === undefined ? null : found.mtimeMs / 1000);
    const { log } = this.#context;
    if (reason === undefined) {
      this.#problems.delete(file);
      log.info('file with options of yt-dlp was read', { file });
    } else {
      const why = found === undefined ? 'there is no such file' : reason;
      this.#problems.set(file, `${file} is not used: ${why}.`);
      log.warn('file with options of yt-dlp is not used', { file, reason: why });
    }
  }

  #logLeftOut(options: Options): void {
    for (const { option, reason, isMissed } of optionsLeftOut(options)) {
      this.#context.log[isMissed ? 'warn' : 'info']('an option of yt-dlp has no effect here', { option, reason });
    }
  }
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined; // Half written, or no JSON: whoever asks says what it should be.
  }
}
