import { getLanguage, getLocale } from '../../../messages/language.ts';
import type { Context } from '../../contracts/service.ts';
import { EvaluationFailed, LimitedProcesses, LimitExceeded } from '../../kit/limited-process.ts';
import { getThreadFile } from '../../kit/limited-thread.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { LocalizedJob } from './expression-process.ts';
import type { JobResults, Job } from './jobs.ts';

const megabyte = 1024 * 1024;
const limits = {
  memoryMb: 128,
  /** Time limit of one job in milliseconds. A list of 5,000 streams and 100 expressions takes a fifth of it. */
  timeoutMs: 2500,
  maxProcesses: 2,
  maxWaiting: 40,
  maxInputBytes: 24 * megabyte,
  maxOutputBytes: 8 * megabyte,
  /** The request for the next episode follows within this time. */
  idleMs: 120_000,
};

/**
 * Runs the expressions and regular expressions of configurations in child processes that are limited in memory and
 * time. An expression that exceeds the limits ends only its process; other processes are reused.
 */
export class Sandbox implements AsyncDisposable {
  readonly #context: Pick<Context, 'clock' | 'log'>;
  readonly #processes: LimitedProcesses;

  constructor(context: Pick<Context, 'clock' | 'log'>) {
    this.#context = context;
    const { clock } = context;
    this.#processes = new LimitedProcesses(getThreadFile('expression-process', import.meta.url), { clock, ...limits });
  }

  /** Starts a process in advance, so that the next job does not wait for it. */
  warm(): void {
    void this.run({ kind: 'patterns', sources: [], texts: [] });
  }

  /** Runs a job. Returns undefined when it exceeds the limits. */
  async run<Kind extends Job['kind']>(job: Job & { readonly kind: Kind }): Promise<JobResults[Kind] | undefined> {
    try {
      const localizedJob: LocalizedJob = { job, language: { language: getLanguage(), locale: getLocale() } };
      return await this.#processes.run<JobResults[Kind]>(localizedJob);
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

/** Prepares streams for the sandbox: adds indexes and removes addresses, which may contain keys. */
export function toSandboxStreams(streams: readonly ParsedStream[]): readonly ParsedStream[] {
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
