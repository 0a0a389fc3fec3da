import * as m from '#messages/downloads-problems';
import type { Engine, Engines } from '../../contracts/control/engines.ts';
import { DownloadProblem } from '../domain/failure.ts';
import type { Clock, Log } from '../../contracts/service.ts';
import { EgressProxy, type ResolveAddress } from './egress-proxy.ts';
import { findEngineProblem } from './version-check.ts';
import { resolvePublicAddress } from './host-resolution.ts';
import { runLines, type Exit, type RunOptions } from './process-runner.ts';
import { restrictedArguments, getProxies, type NetworkPolicy } from './network-policy.ts';
import { Worker } from './worker.ts';

/** Idle time after which a worker is ended to free its memory. */
const idleTimeoutMs = 5 * 60_000;

/** Maximum number of workers that run one command, which may be the cause of their crashes. */
const maxWorkers = 3;

export interface ExtractorDependencies {
  readonly engines: Pick<Engines, 'find' | 'library' | 'start'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Keeps yt-dlp loaded if possible. */
  readonly keepLoaded: boolean;
  readonly allowPrivateAddresses: boolean;
  /** Resolves and checks hosts; the default uses the system's resolver. */
  readonly resolveAddress?: ResolveAddress;
}

/** In bytes per second. */
export interface SpeedLimit {
  /** Limit of all runs together. */
  readonly total: number;
  /** Limit of a single run, if a common limit is not possible. */
  readonly perRun: number;
}

interface LoadedWorker {
  /** Version and path of the engine. */
  readonly key: string;
  /** Undefined when it cannot be imported. */
  readonly worker: Promise<Worker | undefined>;
}

/**
 * Runs yt-dlp in a worker that has it loaded, or by its executable. Both accept the same arguments and print the same
 * output.
 */
export class Extractor implements AsyncDisposable {
  readonly #deps: ExtractorDependencies;
  #current: LoadedWorker | undefined;
  #idleTimer: Disposable | undefined;
  #running = 0;
  /** Number of runs of the executable. */
  #executableRuns = 0;
  #limit: SpeedLimit | null = null;
  #proxy: Promise<EgressProxy> | undefined;
  readonly #retired = new Set<Promise<void>>();

  constructor(deps: ExtractorDependencies) {
    this.#deps = deps;
  }

  /**
   * Runs a command. After a crash of its worker, the command starts again in a new worker.
   * @throws Problem `downloads.engine_missing` (503), and the reason of the signal
   */
  async run(args: readonly string[], options: RunOptions): Promise<Exit> {
    for (let workers = 1; ; workers += 1) {
      const exit = await this.#run(args, options);
      if (exit.isWorkerLost !== true || workers === maxWorkers) return exit;
      this.#deps.log.warn('yt-dlp worker ended, command restarted in another worker');
    }
  }

  async #run(args: readonly string[], options: RunOptions): Promise<Exit> {
    const engine = await this.#deps.engines.find('yt-dlp');
    const problem = findEngineProblem(engine);
    if (problem !== undefined || engine.path === null) throw createMissingProblem(problem ?? '');
    this.#idleTimer?.[Symbol.dispose]();
    this.#running += 1;
    try {
      const worker = await this.#worker(engine);
      const policy = await this.#getNetworkPolicy();
      const fullArguments = policy.allowInternal ? args : [...restrictedArguments, ...args];
      if (worker === undefined)
        return await this.#runExecutable(engine.path, fullArguments, {
          ...options,
          proxies: policy.proxies ?? undefined,
        });
      return await worker.run(fullArguments, options, policy);
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#idleTimer = this.#deps.clock.after(idleTimeoutMs, () => this.#retire());
    }
  }

  /** Limits the speed. Returns true when running commands must be restarted to apply it. */
  async limit(limit: SpeedLimit | null): Promise<boolean> {
    this.#limit = limit;
    const loading = this.#current?.worker;
    (await loading)?.limit(limit?.total ?? null);
    return this.#executableRuns > 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#idleTimer?.[Symbol.dispose]();
    this.#retire();
    await Promise.all(this.#retired);
    await (await this.#proxy)?.[Symbol.asyncDispose]();
  }

  async #getNetworkPolicy(): Promise<NetworkPolicy> {
    const { allowPrivateAddresses, resolveAddress = resolvePublicAddress } = this.#deps;
    if (allowPrivateAddresses) return { allowInternal: true, proxies: null };
    this.#proxy ??= EgressProxy.open(resolveAddress);
    return { allowInternal: false, proxies: getProxies((await this.#proxy).url, process.env) };
  }

  async #runExecutable(path: string, args: readonly string[], options: RunOptions): Promise<Exit> {
    this.#executableRuns += 1;
    try {
      const limitArguments = this.#limit === null ? [] : ['--limit-rate', String(this.#limit.perRun)];
      return await runLines(path, [...limitArguments, ...args], options);
    } catch (error) {
      if (!isMissingProgram(error)) throw error;
      // Removed after it was found.
      const engine = await this.#deps.engines.find('yt-dlp', { refresh: true });
      throw createMissingProblem(findEngineProblem(engine) ?? m.ytDlpReplaced());
    } finally {
      this.#executableRuns -= 1;
    }
  }

  async #worker(engine: Engine): Promise<Worker | undefined> {
    if (!this.#deps.keepLoaded) return undefined;
    const key = `${engine.version ?? ''} ${engine.path ?? ''}`;
    if (this.#current?.key !== key) {
      // After an update, running commands continue with the old version.
      this.#retire();
      this.#current = { key, worker: this.#load(engine) };
    }
    const loaded = this.#current;
    const worker = await loaded.worker;
    if (worker === undefined || worker.usable) return worker;
    if (this.#current === loaded) this.#current = { key, worker: this.#load(engine) };
    return await this.#current?.worker;
  }

  async #load({ version, path }: Engine): Promise<Worker | undefined> {
    const { engines, clock, log } = this.#deps;
    try {
      const library = await engines.library('yt-dlp');
      if (library === undefined) return undefined;
      const worker = await Worker.open(library, { engines, clock, log });
      worker.limit(this.#limit?.total ?? null);
      if (worker.version === version) return worker;
      await worker[Symbol.asyncDispose]();
      throw new Error(`the worker has version ${worker.version}, expected ${version ?? 'a known version'}`);
    } catch (error) {
      log.warn('yt-dlp worker not available, each download starts a process', { path, error });
      return undefined;
    }
  }

  /** Ends a worker after its last command. */
  #retire(): void {
    const loaded = this.#current;
    this.#current = undefined;
    if (loaded === undefined) return;
    const ended = loaded.worker.then(async (worker) => await worker?.end());
    this.#retired.add(ended);
    void ended.finally(() => this.#retired.delete(ended));
  }
}

/** Returns whether a program could not be started because it does not exist or is not executable. */
function isMissingProgram(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ENOENT', 'EACCES', 'ENOEXEC'].includes(String(error.code));
}

function createMissingProblem(message: string): DownloadProblem {
  const failure = { message, failure: 'yt_dlp_missing', kind: 'engine' } as const;
  return new DownloadProblem('downloads.engine_missing', 503, failure);
}
