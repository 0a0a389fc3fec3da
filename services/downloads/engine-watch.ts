import type { Context } from '../contracts/service.ts';

const lookAgainMs = 15_000;

/** Knows whether the extractor is there; looks again while it is not, and says once what to do. */
export class EngineWatch implements Disposable {
  readonly #context: Context;
  readonly #onFound: () => void;
  #missing: string | undefined;
  #timer: Disposable | undefined;
  #looking: Promise<void> | undefined;
  #closed = false;

  constructor(context: Context, onFound: () => void) {
    this.#context = context;
    this.#onFound = onFound;
  }

  /** What to do about the missing extractor; undefined while it is there, or nobody has looked yet. */
  get missing(): string | undefined {
    return this.#missing;
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
    this.#missing = engine.path === null ? (engine.remedy ?? 'Install it on the page Engines.') : undefined;
    if (this.#missing === undefined) {
      if (before !== undefined) this.#context.log.info('the extractor is there', { version: engine.version });
      this.#onFound();
      return;
    }
    if (before === undefined) this.#context.log.warn('downloads wait for yt-dlp', { remedy: this.#missing });
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#context.clock.after(lookAgainMs, () => this.look());
  }
}
