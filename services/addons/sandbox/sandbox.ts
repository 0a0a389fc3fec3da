import type { Context } from '../../contracts/service.ts';
import { EvaluationFailed, LimitedProcesses, LimitExceeded } from '../../kit/limited-process.ts';
import { getThreadFile } from '../../kit/limited-thread.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { Answers, Job } from './jobs.ts';

const megabyte = 1024 * 1024;
const limits = {
  memoryMb: 128,
  /** For one job; a list of 5,000 streams and 100 expressions takes a fifth of it. */
  timeoutMs: 2500,
  maxProcesses: 2,
  maxWaiting: 40,
  maxInputBytes: 24 * megabyte,
  maxOutputBytes: 8 * megabyte,
  /** The next episode follows within this time. */
  idleMs: 120_000,
};

/**
 * Runs the expressions and regular expressions of configurations in processes of their own, which are limited in memory and
 * time. What such an expression does to its process happens to no other; a process that has done its job is used again.
 */
export class Sandbox implements AsyncDisposable {
  readonly #context: Pick<Context, 'clock' | 'log'>;
  readonly #processes: LimitedProcesses;

  constructor(context: Pick<Context, 'clock' | 'log'>) {
    this.#context = context;
    const { clock } = context;
    this.#processes = new LimitedProcesses(getThreadFile('expression-process', import.meta.url), { clock, ...limits });
  }

  /** Starts a process for a job that will follow, so that the job need not wait for one. */
  warm(): void {
    void this.run({ kind: 'patterns', sources: [], texts: [] });
  }

  /** The answer, or undefined where the job takes too much time or memory. */
  async run<Kind extends Job['kind']>(job: Job & { readonly kind: Kind }): Promise<Answers[Kind] | undefined> {
    try {
      return await this.#processes.run<Answers[Kind]>(job);
    } catch (error) {
      if (error instanceof LimitExceeded) {
        this.#context.log.debug('expressions ended', { job: job.kind, limit: error.limit });
        return undefined;
      }
      if (!(error instanceof EvaluationFailed)) throw error;
      this.#context.log.warn('expressions failed', { job: job.kind, reason: error.message });
      return undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#processes[Symbol.asyncDispose]();
  }
}

/** Streams as a sandbox gets them: numbered, and without addresses, which may hold keys. */
export function forSandbox(streams: readonly ParsedStream[]): readonly ParsedStream[] {
  return streams.map((stream, index) => ({
    ...stream,
    id: String(index),
    addon: { ...stream.addon, manifestUrl: '' },
    upstream: typeof stream.upstream['nzbUrl'] === 'string' ? { nzbUrl: stream.upstream['nzbUrl'] } : {},
    hints: {},
    url: undefined,
    sources: undefined,
  }));
}
