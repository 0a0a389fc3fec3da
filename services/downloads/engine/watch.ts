import type { Context } from '../../contracts/service.ts';
import { noJavaScript, type JavaScript } from './javascript.ts';
import { lackOf } from './required.ts';

const lookAgainMs = 15_000;

/** Knows whether the extractor is there and new enough; looks again while it is not, and says once what to do. */
export class EngineWatch implements Disposable {
  readonly #context: Context;
  readonly #javaScript: JavaScript;
  readonly #onFound: () => void;
  #missing: string | undefined;
  #plain: string | undefined;
  #js: string | null | undefined;
  #timer: Disposable | undefined;
  #looking: Promise<void> | undefined;
  #closed = false;

  constructor(context: Context, javaScript: JavaScript, onFound: () => void) {
    this.#context = context;
    this.#javaScript = javaScript;
    this.#onFound = onFound;
  }

  /** What is wrong with the extractor and what to do; undefined while it is there, or nobody has looked yet. */
  get missing(): string | undefined {
    return this.#missing;
  }

  /** What downloads come without while there is no ffmpeg, and what to do; undefined while it is there. */
  get plain(): string | undefined {
    return this.#plain;
  }

  /** Name and version of what runs the scripts of sites; null when there is nothing, undefined before the first look. */
  get js(): string | null | undefined {
    return this.#js;
  }

  /** All that is wrong, for a person; undefined when nothing is. */
  get complaint(): string | undefined {
    const all = [this.#missing ?? this.#plain, this.#js === null ? noJavaScript : undefined];
    return all.filter((each) => each !== undefined).join(' ') || undefined;
  }

  /** Looks in the background. */
  look(): void {
    this.check().catch((error: unknown) => this.#context.log.error('the extractor could not be looked for', { error }));
  }

  /** Looks and waits for the answer. */
  async check(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#timer?.[Symbol.dispose]();
  }

  async #look(): Promise<void> {
    const before = this.#missing;
    const engine = await this.#context.engines.find('yt-dlp', { refresh: before !== undefined });
    if (this.#closed) return;
    this.#missing = lackOf(engine);
    await this.#lookForFfmpeg();
    await this.#lookForJavaScript();
    if (this.#missing === undefined) {
      if (before !== undefined) this.#context.log.info('the extractor is there', { version: engine.version });
      this.#onFound();
      return;
    }
    if (before === undefined) this.#context.log.warn('downloads wait for yt-dlp', { reason: this.#missing });
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#context.clock.after(lookAgainMs, () => this.look());
  }

  /** Without it downloads go on, so that it is said and not waited for. */
  async #lookForFfmpeg(): Promise<void> {
    const before = this.#plain;
    const ffmpeg = await this.#context.engines.find('ffmpeg', { refresh: before !== undefined });
    if (this.#closed) return;
    this.#plain =
      ffmpeg.path === null
        ? `ffmpeg is missing: files come as the site has them, nothing is joined or converted. ${ffmpeg.remedy ?? 'Install it on the page Engines.'}`
        : undefined;
    if (before === undefined && this.#plain !== undefined) this.#context.log.warn('downloads do without ffmpeg', { reason: this.#plain }); // prettier-ignore
  }

  async #lookForJavaScript(): Promise<void> {
    const before = this.#js;
    this.#js = await this.#javaScript.find();
    if (before === undefined && this.#js === null) this.#context.log.warn('some sites give less', { reason: noJavaScript }); // prettier-ignore
  }
}
