import { join } from 'node:path';
import type { Engine, Engines } from '../../contracts/control/engines.ts';
import type { Clock, Log } from '../../contracts/service.ts';
import { Child } from './child.ts';
import { refusedSchemes } from '../../contracts/notify/engine-schemes.ts';

/** A child that nobody needs for this long gives its memory back. */
const idleMs = 5 * 60_000;
/** A start that failed is not tried again sooner. */
const pauseMs = 15_000;
/** What else a child does when it is ended because of one job that hangs may take so long. */
const graceMs = 20_000;

/** What the reason of a delivery says that waits for the engine. */
export const missingWords = 'It needs the Apprise engine';

/** The engine cannot be used; its message is a sentence that says what to do. */
export class EngineMissing extends Error {
  override readonly name = 'EngineMissing';
}

export interface LibraryParts {
  readonly engines: Engines;
  readonly clock: Clock;
  readonly log: Log;
  /** The service's own folder. */
  readonly files: string;
}

interface Loaded {
  /** Which release at which place it is. */
  readonly key: string;
  readonly child: Promise<Child>;
}

/** The Apprise library: at most one child of it, started by the first who needs it and ended when idle. */
export class Library implements AsyncDisposable {
  readonly #parts: LibraryParts;
  #loaded: Loaded | undefined;
  #failure: { readonly key: string; readonly until: number; readonly reason: string } | undefined;
  #idle: Disposable | undefined;
  #using = 0;
  readonly #retired = new Set<Child>();

  constructor(parts: LibraryParts) {
    this.#parts = parts;
  }

  /** Release of the engine; undefined while it is missing. Looks once, and starts nothing. */
  async version(): Promise<string | undefined> {
    const { path, version } = await this.#parts.engines.find('apprise');
    return path === null ? undefined : (version ?? undefined);
  }

  /**
   * Lets a child work; one whose work did not end in time is given nothing more. @throws EngineMissing, ChildGone, and the
   * signal's reason.
   */
  async use<T>(work: (child: Child, signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const engine = await this.#parts.engines.find('apprise');
    this.#idle?.[Symbol.dispose]();
    this.#using += 1;
    try {
      const child = await unlessAborted(this.#open(engine), signal);
      try {
        return await work(child, signal);
      } catch (error) {
        // A thread cannot be stopped: its process is, once the others in it are done.
        if (signal.aborted && child.usable) this.#retire(graceMs);
        throw error;
      }
    } finally {
      this.#using -= 1;
      if (this.#using === 0) {
        this.#idle?.[Symbol.dispose]();
        this.#idle = this.#parts.clock.after(idleMs, () => this.#retire(0));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#idle?.[Symbol.dispose]();
    const loaded = this.#loaded;
    this.#loaded = undefined;
    for (const child of this.#retired) child.kill();
    const child = await loaded?.child.catch(() => undefined);
    await child?.[Symbol.asyncDispose]();
  }

  async #open(engine: Engine): Promise<Child> {
    if (engine.path === null) {
      this.#retire(graceMs);
      throw new EngineMissing(`${missingWords}: install it on the page Engines.`);
    }
    const key = `${engine.version ?? ''} ${engine.path}`;
    const { clock } = this.#parts;
    if (this.#loaded !== undefined && this.#loaded.key !== key) this.#retire(graceMs);
    const loaded = this.#loaded;
    const known = await loaded?.child.catch(() => undefined);
    if (known?.usable) return known;
    if (this.#failure?.key === key && this.#failure.until > clock.now()) throw new EngineMissing(this.#failure.reason);
    // Someone else may have begun another one meanwhile.
    if (this.#loaded === undefined || this.#loaded === loaded) this.#loaded = { key, child: this.#start(key) };
    return this.#loaded.child;
  }

  async #start(key: string): Promise<Child> {
    const { engines, clock, files, log } = this.#parts;
    try {
      const library = await engines.library('apprise');
      if (library === undefined) throw new Error('its Python is not known');
      const order = { folders: [join(files, 'attachments'), join(files, 'apprise')], refused: refusedSchemes };
      const child = await Child.open(library, { engines, clock, order });
      this.#failure = undefined;
      log.info('the Apprise library is loaded', { version: child.version });
      return child;
    } catch (error) {
      const words = error instanceof Error ? error.message : 'unknown';
      const reason = `The Apprise engine cannot be started (${words}): look at the page Engines.`;
      this.#failure = { key, until: clock.now() + pauseMs, reason };
      log.warn('the Apprise library cannot be loaded', { error });
      throw new EngineMissing(reason, { cause: error });
    }
  }

  #retire(grace: number): void {
    const loaded = this.#loaded;
    this.#loaded = undefined;
    if (loaded === undefined) return;
    loaded.child.then(
      (child) => {
        for (const each of this.#retired) if (each.busy === 0) this.#retired.delete(each);
        this.#retired.add(child);
        child.retire(grace);
      },
      // One that did not start is gone already.
      () => undefined,
    );
  }
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('stopped'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
