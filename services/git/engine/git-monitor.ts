import { engineProgress } from '../../contracts/control/engines.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { SingleFlight } from '../../kit/single-flight.ts';
import type { Git } from './git.ts';

/** Interval of the search for a git that was installed by other means than the page Engines. */
const retryIntervalMs = 30_000;

export interface GitMonitorOptions {
  readonly context: Pick<Context, 'bus' | 'clock' | 'log'>;
  readonly git: Pick<Git, 'open' | 'version'>;
  /** Called once, when git can be used for the first time. */
  readonly onFirstAvailable: () => Promise<void>;
}

/** Monitors whether git can be used, so that an installation after the start needs no restart. */
export class GitMonitor implements AsyncDisposable {
  readonly #options: GitMonitorOptions;
  readonly #checking = new SingleFlight(() => this.#check());
  #problem: Problem | undefined;
  #hasFailed = false;
  #wasAvailable = false;
  #isClosed = false;
  #subscription: Disposable | undefined;
  #retry: Disposable | undefined;

  constructor(options: GitMonitorOptions) {
    this.#options = options;
  }

  /** Reason why git cannot be used; undefined while it can be used. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  /** Returns whether the first use failed after a late installation. Only a restart of the service repeats it. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Checks git, and again after each change of its engine. Throws the error of the first use. */
  async start(): Promise<void> {
    this.#subscription = this.#options.context.bus.subscribe(engineProgress, ({ name, work }) => {
      if (name === 'git' && work === null) void this.#checkInBackground();
    });
    await this.#checking.run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#subscription?.[Symbol.dispose]();
    this.#retry?.[Symbol.dispose]();
    await this.#checking.settled();
  }

  async #checkInBackground(): Promise<void> {
    try {
      // A running check may have started before the installation ended.
      await this.#checking.runAgain();
    } catch (error) {
      this.#hasFailed = true;
      this.#options.context.log.error('git check failed', { error });
    }
  }

  async #check(): Promise<void> {
    this.#retry?.[Symbol.dispose]();
    if (this.#isClosed || this.#hasFailed) return;
    const { context, git, onFirstAvailable } = this.#options;
    const problem = await findProblem(git);
    if (this.#isClosed) return;
    if (problem !== undefined) {
      if (problem.message !== this.#problem?.message) context.log.error('git unavailable', { error: problem });
      this.#problem = problem;
      this.#retry = context.clock.after(retryIntervalMs, () => void this.#checkInBackground());
      return;
    }
    if (!this.#wasAvailable) await onFirstAvailable();
    this.#wasAvailable = true;
    if (this.#problem !== undefined) context.log.info('git available', { version: git.version });
    this.#problem = undefined;
  }
}

async function findProblem(git: Pick<Git, 'open'>): Promise<Problem | undefined> {
  try {
    await git.open();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
