import type { JobState } from '../../contracts/sync/api.ts';
import type { EngineAnswer } from '../engine/engine.ts';
import type { Stats } from '../domain/stats.ts';

/** What is to be done, and by whom. */
export interface JobOrder {
  /** The call: `sync/sync`. */
  readonly kind: string;
  readonly account: string;
  /** What it is asked with, without the parameters that are meant for us. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Under which its statistics are asked for, in place of `job/<id>`. */
  readonly group?: string | undefined;
  readonly source?: string;
  readonly destination?: string;
  /** Where it writes, as the engine understands it. */
  readonly writes?: readonly unknown[];
  /** It stands in the history. */
  readonly durable: boolean;
  readonly taskId?: number;
  readonly planId?: number;
  readonly attempt?: number;
  /** Nobody waits for its answer: it is asked for later. */
  readonly isAsync?: boolean;
  /** What it does in place of one call to the engine. */
  readonly work?: (job: Job) => Promise<JobOutcome>;
}

/** What came of it. */
export interface JobOutcome extends EngineAnswer {
  /** In place of `done` and `failed`. */
  readonly state?: JobState;
  /** Totals that the engine counts as something else. */
  readonly stats?: Stats;
}

/** An error about a file. */
export interface FileError {
  readonly name: string;
  readonly what: string;
  readonly size: number;
  readonly at: number;
  readonly error: string;
}

const mostErrors = 1000;
const mostSpeeds = 240;

/** What the built-in engine counts for a job. */
export interface LocalCounts {
  readonly stats: Stats;
  /** The entries of `core/transferred`. */
  readonly transferred: readonly object[];
  /** Stops the clock of the totals. */
  end(): void;
}

/** A call that runs, or ended a moment ago. */
export class Job {
  readonly id: number;
  readonly order: JobOrder;
  readonly startedAt: number;
  readonly group: string;
  /** Aborted when it is to stop. */
  readonly stopping = new AbortController();
  readonly errors = new Map<string, FileError>();
  state: JobState = 'waiting';
  endedAt: number | null = null;
  error = '';
  /** The preview that it made, or that binds it. */
  planId: number | null;
  output: unknown = null;
  stats: Stats = {};
  /** Its totals where it runs without rclone. */
  local: LocalCounts | undefined;
  /** Bytes a second, along time; where there are too many, two become one. */
  readonly speeds: number[] = [];
  /** Seconds that each of them stands for. */
  speedStep = 1;
  /** What it ends as when somebody stops it. */
  stopsAs: JobState = 'stopped';
  #ticks: number[] = [];

  constructor(id: number, order: JobOrder, now: number) {
    this.id = id;
    this.order = order;
    this.startedAt = now;
    this.planId = order.planId ?? null;
    this.group = order.group ?? `job/${String(id)}`;
  }

  /** The engine's name of its statistics: no other job has it. */
  get engineGroup(): string {
    return `job/${String(this.id)}`;
  }

  get isRunning(): boolean {
    return this.state === 'waiting' || this.state === 'running';
  }

  noteError(error: FileError): void {
    if (this.errors.size < mostErrors || this.errors.has(error.name)) this.errors.set(error.name, error);
  }

  noteSpeed(speed: number): void {
    this.#ticks.push(speed);
    if (this.#ticks.length < this.speedStep) return;
    this.speeds.push(mean(this.#ticks));
    this.#ticks = [];
    if (this.speeds.length < mostSpeeds) return;
    const halved = Array.from({ length: mostSpeeds / 2 }, (_, at) => mean(this.speeds.slice(2 * at, 2 * at + 2)));
    this.speeds.splice(0, this.speeds.length, ...halved);
    this.speedStep *= 2;
  }
}

function mean(values: readonly number[]): number {
  return Math.round(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));
}
