import type { Generated } from 'kysely';
import type { JobState } from '../../contracts/sync/api.ts';

export interface Tables {
  /** Single values: the engine's sealed password, the first free job id. */
  keepsakes: { name: string; value: string };
  runs: {
    id: number;
    /** Path of the call, such as `sync/sync`. */
    kind: string;
    account: string;
    /** Group of the statistics. */
    group_name: string;
    /** JSON without secrets. */
    input: string;
    source: string;
    destination: string;
    state: JobState;
    started_at: number;
    ended_at: number | null;
    /** Text of rclone, Go or Node, or an English sentence, as clients of rclone's API receive it. */
    error: string;
    /** Code of a failure of the service; empty for a failure of the engine. */
    error_code: Generated<string>;
    /** JSON of the values that the text of a failure of the service contains. */
    error_parameters: Generated<string>;
    /** JSON of the engine's response. */
    output: string;
    /** JSON of the engine's totals. */
    stats: string;
    /** JSON list of bytes per second over time. */
    speeds: string;
    task_id: number | null;
    plan_id: number | null;
    attempt: number;
    /** Host that runs the job; null for jobs of earlier versions. */
    host: Generated<string | null>;
  };
  run_files: {
    job_id: number;
    seq: number;
    name: string;
    what: string;
    size: number;
    at: number;
    /** Text of rclone, Go or Node, or an English sentence, as clients of rclone's API receive it. */
    error: string;
    /** Code of a failure of the service; empty for a failure of the engine. */
    error_code: Generated<string>;
    /** JSON of the values that the text of a failure of the service contains. */
    error_parameters: Generated<string>;
  };
  tasks: {
    id: Generated<number>;
    account: string;
    /** JSON of its fields. */
    body: string;
    paused: 0 | 1;
    next_at: number | null;
    /** Number of consecutive failures, for the delay of the next attempt. */
    failures: number;
    created_at: number;
  };
  plans: {
    id: Generated<number>;
    task_id: number;
    created_at: number;
    /** Fingerprint of the task's settings: the preview is invalid after they change. */
    fingerprint: string;
    /** JSON of the numbers of files, and of the reasons why the plan needs approval. */
    summary: string;
    /** JSON of the paths. */
    body: string;
  };
}
