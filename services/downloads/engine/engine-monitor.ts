import type { Engine } from '../../contracts/control/engines.ts';
import type { Health, RunningWork, SuggestedAction } from '../../contracts/health.ts';
import type { Context } from '../../contracts/service.ts';
import { Installing } from './engine-installations.ts';
import { noJavaScript, type JavaScript } from './javascript-runtime.ts';
import { lackOf } from './version-check.ts';

const lookAgainMs = 15_000;
const seeEngines: SuggestedAction = { label: 'See the engines', to: '/settings/engines', adminOnly: true };

/** Knows whether the extractor is there and new enough; looks again while it is not, and says once what to do. */
export class EngineWatch implements Disposable {
  readonly #context: Context;
  readonly #javaScript: JavaScript;
  readonly #onFound: () => void;
  readonly #installing: Installing;
  #extractor: Engine | undefined;
  #ffmpeg: Engine | undefined;
  #js: string | null | undefined;
  #timer: Disposable | undefined;
  #looking: Promise<void> | undefined;
  #closed = false;

  constructor(context: Context, javaScript: JavaScript, onFound: () => void) {
    this.#context = context;
    this.#javaScript = javaScript;
    this.#onFound = onFound;
    this.#installing = new Installing(context, ['yt-dlp', 'ffmpeg'], async () => {
      // A look that began before the end of it may not have seen it.
      await this.#looking?.catch(() => undefined);
      await this.check();
    });
  }

  /** From now on it is known what is being installed. */
  start(): void {
    this.#installing.start();
  }

  /** What is wrong with the extractor and what to do; undefined while it is there, or nobody has looked yet. */
  get missing(): string | undefined {
    const lack = this.#extractor && lackOf(this.#extractor);
    if (lack === undefined || !this.#installing.has('yt-dlp')) return lack;
    return 'yt-dlp is being installed, and downloads wait for it.';
  }

  /** Name and version of what runs the scripts of sites; null when there is nothing, undefined before the first look. */
  get js(): string | null | undefined {
    return this.#js;
  }

  /** All that is wrong, for a person; undefined when nothing is. */
  get complaint(): string | undefined {
    const all = [this.missing ?? this.#plain, this.#js === null ? noJavaScript : undefined];
    return all.filter((each) => each !== undefined).join(' ') || undefined;
  }

  /** What is being installed just now, as Home shows it. */
  get running(): readonly RunningWork[] {
    return this.#installing.running;
  }

  /** What of it somebody has to know, and mends with one click; undefined when all goes well. */
  get health(): Pick<Health, 'state' | 'detail' | 'remedy'> | undefined {
    const [extractor, ffmpeg] = [this.#extractor, this.#ffmpeg];
    if (extractor !== undefined && this.missing !== undefined) {
      if (this.#installing.has('yt-dlp')) return { state: 'up', detail: 'yt-dlp is being installed' };
      const { path, trouble = '', mend = seeEngines } = extractor;
      if (path !== null) return { state: 'degraded', detail: this.missing, remedy: seeEngines };
      const detail = `nothing can be downloaded until yt-dlp is installed. ${trouble}`.trim();
      return { state: 'degraded', detail, remedy: mend };
    }
    if (ffmpeg?.path !== null || this.#installing.has('ffmpeg')) return undefined;
    const { trouble = '', mend = seeEngines } = ffmpeg;
    return { state: 'degraded', detail: `${withoutFfmpeg} ${trouble}`.trim(), remedy: mend };
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
    this.#installing[Symbol.dispose]();
  }

  /** What downloads come without while there is no ffmpeg, and what to do; undefined while it is there. */
  get #plain(): string | undefined {
    if (this.#ffmpeg?.path !== null) return undefined;
    if (this.#installing.has('ffmpeg')) return `ffmpeg is being installed. Until it is here ${plainly}.`;
    return `${withoutFfmpeg} ${this.#ffmpeg.remedy ?? 'Install it on the page Engines.'}`;
  }

  async #look(): Promise<void> {
    const before = this.missing;
    const engine = await this.#context.engines.find('yt-dlp', { refresh: before !== undefined });
    if (this.#closed) return;
    this.#extractor = engine;
    await this.#lookForFfmpeg();
    await this.#lookForJavaScript();
    const lack = lackOf(engine);
    this.#timer?.[Symbol.dispose]();
    if (lack === undefined) {
      if (before !== undefined) this.#context.log.info('the extractor is there', { version: engine.version });
      this.#onFound();
      return;
    }
    if (before === undefined) this.#context.log.warn('downloads wait for yt-dlp', { reason: this.missing });
    this.#timer = this.#context.clock.after(lookAgainMs, () => this.look());
  }

  /** Without it downloads go on, so that it is said and not waited for. */
  async #lookForFfmpeg(): Promise<void> {
    const before = this.#plain;
    const ffmpeg = await this.#context.engines.find('ffmpeg', { refresh: before !== undefined });
    if (this.#closed) return;
    this.#ffmpeg = ffmpeg;
    if (before === undefined && this.#plain !== undefined)
      this.#context.log.warn('downloads do without ffmpeg', { reason: this.#plain });
  }

  async #lookForJavaScript(): Promise<void> {
    const before = this.#js;
    this.#js = await this.#javaScript.find();
    if (before === undefined && this.#js === null)
      this.#context.log.warn('some sites give less', { reason: noJavaScript });
  }
}

const plainly = 'files come as the site has them, nothing is joined or converted';
const withoutFfmpeg = `ffmpeg is missing: ${plainly}.`;
