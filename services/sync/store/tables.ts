import type { Generated } from 'kysely';
import type { JobState } from '../../contracts/sync/api.ts';

export interface Tables {
  /** Single values: the engine's sealed password, the first free job id. */
  keepsakes: { name: string; value: string };
  runs: {
    id: number;
    /** The call, such as `sync/sync`. */
    kind: string;
    account: string;
    /** Statistics are asked for by it. */
    group_name: string;
    /** JSON without secrets. */
    input: string;
    source: string;
    destination: string;
    state: JobState;
    started_at: number;
    ended_at: number | null;
    error: string;
    /** JSON of the engine's answer. */
    output: string;
    /** JSON of the engine's totals. */
    stats: string;
    /** JSON list of bytes a second along time. */
    speeds: string;
    task_id: number | null;
    plan_id: number | null;
    attempt: number;
  };
  run_files: {
    job_id: number;
    seq: number;
    name: string;
    what: string;
    size: number;
    at: number;
    error: string;
  };
  tasks: {
    id: Generated<number>;
    account: string;
    /** JSON of its fields. */
    body: string;
    paused: 0 | 1;
    next_at: number | null;
    /** How often it failed in a row, for the pauses between. */
    failures: number;
    created_at: number;
  };
  plans: {
    id: Generated<number>;
    task_id: number;
    created_at: number;
    /** What of the task it was made for: another source or destination makes it void. */
    fingerprint: string;
    summary: string;
    /** JSON of the paths. */
    body: string;
  };
}
