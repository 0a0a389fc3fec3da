import type { Engine, Engines } from '../../contracts/control/engines.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock, Log } from '../../contracts/service.ts';
import { OutwardProxy, type AddressOf } from './egress-proxy.ts';
import { lackOf } from './version-check.ts';
import { publicAddress } from './host-resolution.ts';
import { runLines, type Exit, type RunOptions } from './process-runner.ts';
import { outwardArguments, proxiesOf, type Way } from './network-policy.ts';
import { Worker } from './worker.ts';

/** A worker that nobody needs for this long gives its memory back. */
const idleMs = 5 * 60_000;

/** Workers that one command may outlive: perhaps it is what kills them. */
const mostWorkers = 3;

export interface ExtractorParts {
  readonly engines: Engines;
  readonly clock: Clock;
  readonly log: Log;
  /** Keep one loaded where that can be. */
  readonly keepLoaded: boolean;
  readonly allowPrivateAddresses: boolean;
  /** How hosts are found and judged; the system's way where it is left out. */
  readonly addressOf?: AddressOf;
}

/** Bytes a second. */
export interface SpeedLimit {
  /** Of all that runs. */
  readonly together: number;
  /** Of one run, where they cannot be bounded together. */
  readonly each: number;
}

interface Loaded {
  /** Which release at which place it is. */
  readonly key: string;
  /** Undefined: it cannot be imported here. */
  readonly worker: Promise<Worker | undefined>;
}

/** Runs yt-dlp: by a worker that has it loaded, or else its executable. Both take the same arguments and print the same. */
export class Extractor implements AsyncDisposable {
  readonly #parts: ExtractorParts;
  #loaded: Loaded | undefined;
  #idle: Disposable | undefined;
  #running = 0;
  /** Runs of the executable. */
  #apart = 0;
  #limit: SpeedLimit | null = null;
  #proxy: Promise<OutwardProxy> | undefined;
  readonly #retired = new Set<Promise<void>>();

  constructor(parts: ExtractorParts) {
    this.#parts = parts;
  }

  /**
   * A command whose worker dies is carried out anew by the next one, from its first line on.
   * @throws Problem `downloads.engine_missing` (503), and the signal's reason.
   */
  async run(args: readonly string[], options: RunOptions): Promise<Exit> {
    for (let workers = 1; ; workers += 1) {
      const exit = await this.#run(args, options);
      if (exit.lost !== true || workers === mostWorkers) return exit;
      this.#parts.log.warn('the worker of yt-dlp is gone; what it ran goes on with another one');
    }
  }

  async #run(args: readonly string[], options: RunOptions): Promise<Exit> {
    const engine = await this.#parts.engines.find('yt-dlp');
    const lack = lackOf(engine);
    if (lack !== undefined || engine.path === null) throw new Problem('downloads.engine_missing', 503, lack ?? '');
    this.#idle?.[Symbol.dispose]();
    this.#running += 1;
    try {
      const worker = await this.#worker(engine);
      const way = await this.#way();
      const all = way.internal ? args : [...outwardArguments, ...args];
      if (worker === undefined)
        return await this.#apartly(engine.path, all, { ...options, proxies: way.proxies ?? undefined });
      return await worker.run(all, options, way);
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#idle = this.#parts.clock.after(idleMs, () => this.#retire());
    }
  }

  /** Bounds the speed from now on. True: what runs must be started anew to follow. */
  async limit(limit: SpeedLimit | null): Promise<boolean> {
    this.#limit = limit;
    const loading = this.#loaded?.worker;
    (await loading)?.limit(limit?.together ?? null);
    return this.#apart > 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#idle?.[Symbol.dispose]();
    this.#retire();
    await Promise.all(this.#retired);
    await (await this.#proxy)?.[Symbol.asyncDispose]();
  }

  async #way(): Promise<Way> {
    const { allowPrivateAddresses, addressOf = publicAddress } = this.#parts;
    if (allowPrivateAddresses) return { internal: true, proxies: null };
    this.#proxy ??= OutwardProxy.open(addressOf);
    return { internal: false, proxies: proxiesOf((await this.#proxy).url, process.env) };
  }

  async #apartly(path: string, args: readonly string[], options: RunOptions): Promise<Exit> {
    this.#apart += 1;
    try {
      const bound = this.#limit === null ? [] : ['--limit-rate', String(this.#limit.each)];
      return await runLines(path, [...bound, ...args], options);
    } catch (error) {
      if (!isGone(error)) throw error;
      // Removed since it was found.
      const engine = await this.#parts.engines.find('yt-dlp', { refresh: true });
      throw new Problem('downloads.engine_missing', 503, lackOf(engine) ?? 'yt-dlp was replaced just now.');
    } finally {
      this.#apart -= 1;
    }
  }

  async #worker(engine: Engine): Promise<Worker | undefined> {
    if (!this.#parts.keepLoaded) return undefined;
    const key = `${engine.version ?? ''} ${engine.path ?? ''}`;
    if (this.#loaded?.key !== key) {
      // An update: what runs with the old release goes on with it.
      this.#retire();
      this.#loaded = { key, worker: this.#load(engine) };
    }
    const loaded = this.#loaded;
    const worker = await loaded.worker;
    if (worker === undefined || worker.usable) return worker;
    if (this.#loaded === loaded) this.#loaded = { key, worker: this.#load(engine) };
    return await this.#loaded?.worker;
  }

  async #load({ version, path }: Engine): Promise<Worker | undefined> {
    const { engines, clock, log } = this.#parts;
    try {
      const library = await engines.library('yt-dlp');
      if (library === undefined) return undefined;
      const worker = await Worker.open(library, { engines, clock, log });
      worker.limit(this.#limit?.together ?? null);
      if (worker.version === version) return worker;
      await worker[Symbol.asyncDispose]();
      throw new Error(`its release is ${worker.version}, not ${version ?? 'known'}`);
    } catch (error) {
      log.warn('yt-dlp cannot be kept loaded; each download starts it anew', { path, error });
      return undefined;
    }
  }

  /** Lets a worker end once it has nothing to do. */
  #retire(): void {
    const loaded = this.#loaded;
    this.#loaded = undefined;
    if (loaded === undefined) return;
    const ending = loaded.worker.then(async (worker) => await worker?.end());
    this.#retired.add(ending);
    void ending.finally(() => this.#retired.delete(ending));
  }
}

/** Whether a program could not be started because it is not there, or is none any more. */
function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ENOENT', 'EACCES', 'ENOEXEC'].includes(String(error.code));
}
