import type { JobState } from '../../contracts/sync/api.ts';
import type { EngineResponse } from '../engine/engine-client.ts';
import type { StoredFailure } from '../domain/failure-cause.ts';
import type { ServiceFailure } from '../domain/failures.ts';
import type { Stats } from '../domain/stats.ts';

/** Request for a job. */
export interface JobRequest {
  /** Path of the call, such as `sync/sync`. */
  readonly kind: string;
  readonly account: string;
  /** Parameters of the call without those that Homeport itself handles. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Group of its statistics instead of `job/<id>`. */
  readonly group?: string | undefined;
  readonly source?: string;
  readonly destination?: string;
  /** Locations that the job writes to, in the engine's notation. */
  readonly writes?: readonly unknown[];
  /** True if the job is stored in the history. */
  readonly durable: boolean;
  readonly taskId?: number;
  readonly planId?: number;
  readonly attempt?: number;
  /** True if the client requests the result later. */
  readonly isAsync?: boolean;
  /** Work of the job instead of one call of the engine. */
  readonly work?: (job: Job) => Promise<JobOutcome>;
}

/** Result of a job. */
export interface JobOutcome extends EngineResponse {
  /** Failure of the service; undefined for a failure of the engine. */
  readonly failure?: ServiceFailure;
  /** Final state instead of `done` and `failed`. */
  readonly state?: JobState;
  /** Totals that replace those of the engine. */
  readonly stats?: Stats;
}

export interface FileError {
  readonly name: string;
  readonly what: string;
  readonly size: number;
  readonly at: number;
  readonly error: string;
  /** Code of a failure of the service; empty for a failure of the engine. */
  readonly code: string;
  readonly parameters?: unknown;
}

const maxErrors = 1000;
const maxSpeeds = 240;

/** Statistics of a job of the built-in engine. */
export interface LocalCounts {
  readonly stats: Stats;
  /** The entries of `core/transferred`. */
  readonly transferred: readonly object[];
  /** Stops the timer of the totals. */
  end(): void;
}

/** Job that is waiting, running or recently ended. */
export class Job {
  readonly id: number;
  readonly order: JobRequest;
  readonly startedAt: number;
  readonly group: string;
  /** Aborted when the job should stop. */
  readonly stopping = new AbortController();
  readonly errors = new Map<string, FileError>();
  state: JobState = 'waiting';
  endedAt: number | null = null;
  error = '';
  /** Code of a failure of the service; empty for a failure of the engine. */
  errorCode = '';
  /** Values that the text of a failure of the service contains. */
  errorParameters: object = {};
  /** Preview that the job created or executes. */
  planId: number | null;
  output: unknown = null;
  stats: Stats = {};
  /** Statistics if the job runs without rclone. */
  local: LocalCounts | undefined;
  /** Bytes per second over time. Neighboring values are merged when there are too many. */
  readonly speeds: number[] = [];
  /** Number of seconds that each speed value covers. */
  speedStep = 1;
  /** Another host has marked the job as interrupted, and repeats it if necessary. */
  isTakenOver = false;
  /** Final state if the job is stopped. */
  stopsAs: JobState = 'stopped';
  #ticks: number[] = [];

  constructor(id: number, order: JobRequest, now: number) {
    this.id = id;
    this.order = order;
    this.startedAt = now;
    this.planId = order.planId ?? null;
    this.group = order.group ?? `job/${String(id)}`;
  }

  /** Unique statistics group of the job in the engine. */
  get engineGroup(): string {
    return `job/${String(this.id)}`;
  }

  /** Error with its code and parameters. */
  get failure(): StoredFailure {
    return { error: this.error, code: this.errorCode, parameters: this.errorParameters };
  }

  get isRunning(): boolean {
    return this.state === 'waiting' || this.state === 'running';
  }

  addError(error: FileError): void {
    if (this.errors.size < maxErrors || this.errors.has(error.name)) this.errors.set(error.name, error);
  }

  addSpeed(speed: number): void {
    this.#ticks.push(speed);
    if (this.#ticks.length < this.speedStep) return;
    this.speeds.push(mean(this.#ticks));
    this.#ticks = [];
    if (this.speeds.length < maxSpeeds) return;
    const halved = Array.from({ length: maxSpeeds / 2 }, (_, index) =>
      mean(this.speeds.slice(2 * index, 2 * index + 2)),
    );
    this.speeds.splice(0, this.speeds.length, ...halved);
    this.speedStep *= 2;
  }
}

function mean(values: readonly number[]): number {
  return Math.round(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));
}
