import { join } from 'node:path';
import { temporaryBlobsFolder } from '../../contracts/blobs.ts';
import type { Engine, Engines } from '../../contracts/control/engines.ts';
import type { Clock, Log } from '../../contracts/service.ts';
import { LibraryProcess } from './child.ts';
import { refusedSchemes } from '../../contracts/notify/engine-schemes.ts';

/** An unused process is ended after this time to free its memory. */
const idleTimeoutMs = 5 * 60_000;
/** Minimum time between a failed start and the next one. */
const pauseMs = 15_000;
/** Time for other requests to finish when a process is ended because one request hangs. */
const retireGraceMs = 20_000;

/** The engine cannot be used; the message names the remedy. */
export class EngineUnavailableError extends Error {
  override readonly name = 'EngineUnavailableError';
  /** True if the engine is not installed; false if it cannot be started. */
  readonly isMissing: boolean;

  constructor(message: string, options: { readonly isMissing: boolean; readonly cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.isMissing = options.isMissing;
  }
}

export interface LibraryOptions {
  readonly engines: Engines;
  readonly clock: Clock;
  readonly log: Log;
  /** Data folder of the service. */
  readonly files: string;
}

interface LoadedProcess {
  /** Version and path of the engine. */
  readonly key: string;
  readonly child: Promise<LibraryProcess>;
}

/** Runs the Apprise library in at most one process, which is started when needed and ended when idle. */
export class Library implements AsyncDisposable {
  readonly #options: LibraryOptions;
  #loaded: LoadedProcess | undefined;
  #failure: { readonly key: string; readonly until: number; readonly reason: string } | undefined;
  #idleTimer: Disposable | undefined;
  #activeUses = 0;
  readonly #retired = new Set<LibraryProcess>();

  constructor(options: LibraryOptions) {
    this.#options = options;
  }

  /** Returns the version of the engine, or undefined if it is not installed. Starts no process. */
  async version(): Promise<string | undefined> {
    const { path, version } = await this.#options.engines.find('apprise');
    return path === null ? undefined : (version ?? undefined);
  }

  /**
   * Runs work with a process. A process whose work exceeds its time limit gets no further work.
   *
   * @throws EngineUnavailableError, LibraryProcessError, and the reason of the signal.
   */
  async run<T>(work: (child: LibraryProcess, signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const installedEngine = await this.#options.engines.find('apprise');
    this.#idleTimer?.[Symbol.dispose]();
    this.#activeUses += 1;
    try {
      const child = await unlessAborted(this.#open(installedEngine), signal);
      try {
        return await work(child, signal);
      } catch (error) {
        // A thread cannot be stopped, so its process is ended after its other requests.
        if (signal.aborted && child.isUsable) this.#retire(retireGraceMs);
        throw error;
      }
    } finally {
      this.#activeUses -= 1;
      if (this.#activeUses === 0) {
        this.#idleTimer?.[Symbol.dispose]();
        this.#idleTimer = this.#options.clock.after(idleTimeoutMs, () => this.#retire(0));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#idleTimer?.[Symbol.dispose]();
    const loaded = this.#loaded;
    this.#loaded = undefined;
    for (const child of this.#retired) child.kill();
    const child = await loaded?.child.catch(() => undefined);
    await child?.[Symbol.asyncDispose]();
  }

  async #open(installedEngine: Engine): Promise<LibraryProcess> {
    if (installedEngine.path === null) {
      this.#retire(retireGraceMs);
      throw new EngineUnavailableError('It needs the Apprise engine: install it on the page Engines.', {
        isMissing: true,
      });
    }
    const key = `${installedEngine.version ?? ''} ${installedEngine.path}`;
    const { clock } = this.#options;
    if (this.#loaded !== undefined && this.#loaded.key !== key) this.#retire(retireGraceMs);
    const loaded = this.#loaded;
    const runningProcess = await loaded?.child.catch(() => undefined);
    if (runningProcess?.isUsable) return runningProcess;
    if (this.#failure?.key === key && this.#failure.until > clock.now())
      throw new EngineUnavailableError(this.#failure.reason, { isMissing: false });
    // Another caller may have started a process in the meantime.
    if (this.#loaded === undefined || this.#loaded === loaded) this.#loaded = { key, child: this.#start(key) };
    return this.#loaded.child;
  }

  async #start(key: string): Promise<LibraryProcess> {
    const { engines, clock, files, log } = this.#options;
    try {
      const library = await engines.library('apprise');
      if (library === undefined) throw new Error('its Python is not known');
      const initialRequest = {
        folders: ['attachments', temporaryBlobsFolder, 'apprise'].map((name) => join(files, name)),
        refused: refusedSchemes,
      };
      const child = await LibraryProcess.open(library, { engines, clock, initialRequest });
      this.#failure = undefined;
      log.info('apprise library loaded', { version: child.version });
      return child;
    } catch (error) {
      const message = error instanceof Error ? error.message : 'unknown';
      const reason = `The Apprise engine cannot be started (${message}): look at the page Engines.`;
      this.#failure = { key, until: clock.now() + pauseMs, reason };
      log.warn('apprise library start failed', { error });
      throw new EngineUnavailableError(reason, { isMissing: false, cause: error });
    }
  }

  #retire(grace: number): void {
    const loaded = this.#loaded;
    this.#loaded = undefined;
    if (loaded === undefined) return;
    loaded.child.then(
      (child) => {
        for (const each of this.#retired) if (each.pendingCount === 0) this.#retired.delete(each);
        this.#retired.add(child);
        child.retire(grace);
      },
      // A process that did not start needs no end.
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
