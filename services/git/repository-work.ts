import type { Context } from '../contracts/service.ts';
import { SerialQueue } from '../kit/serial-queue.ts';
import type { RepositoriesFolder } from './repositories/repositories-folder.ts';
import type { RepositoryUpkeep } from './repositories/upkeep.ts';

/** Delay before a failed start is repeated, ms. */
const retryMs = 10_000;

export interface RepositoryWorkDependencies {
  readonly context: Pick<Context, 'clock' | 'log'>;
  readonly repositoriesFolder: Pick<RepositoriesFolder, 'onChange' | 'problem' | 'start'>;
  /** Completes the work of an interrupted run, once. */
  readonly recover: () => Promise<void>;
  readonly upkeep: Pick<RepositoryUpkeep, 'start' | 'stop'>;
  /** Handles the jobs that read repositories, until the disposal. Other hosts handle them in the meantime. */
  readonly handleJobs: () => Disposable;
}

/** Does the work of the service that needs the repositories while their folder is available. */
export class RepositoryWork implements AsyncDisposable {
  readonly #dependencies: RepositoryWorkDependencies;
  /** Serializes starts and stops. */
  readonly #transitions = new SerialQueue();
  readonly #resources = new AsyncDisposableStack();
  #jobs: Disposable | undefined;
  #hasRecovered = false;
  #isClosed = false;

  constructor(deps: RepositoryWorkDependencies) {
    this.#dependencies = deps;
  }

  /** Starts the work, or waits for the folder. Throws the error of the first start of the work. */
  async start(): Promise<void> {
    const { repositoriesFolder } = this.#dependencies;
    await repositoriesFolder.start();
    this.#resources.use(repositoriesFolder.onChange(() => void this.#follow()));
    await this.#update();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#resources.disposeAsync();
    await this.#update();
  }

  /** Starts or stops the work as the folder requires. A failed start is logged and repeated. */
  async #follow(): Promise<void> {
    const { clock, log } = this.#dependencies.context;
    try {
      await this.#update();
    } catch (error) {
      log.error('work on repositories could not start', { error });
      if (!this.#isClosed) this.#resources.use(clock.after(retryMs, () => void this.#follow()));
    }
  }

  #update(): Promise<void> {
    const { handleJobs, recover, repositoriesFolder, upkeep } = this.#dependencies;
    return this.#transitions.run(async () => {
      if (this.#isClosed || repositoriesFolder.problem !== undefined) {
        this.#jobs?.[Symbol.dispose]();
        this.#jobs = undefined;
        return upkeep.stop();
      }
      if (!this.#hasRecovered) await recover();
      this.#hasRecovered = true;
      await upkeep.start();
      this.#jobs ??= handleJobs();
    });
  }
}
