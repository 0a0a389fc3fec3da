import { z } from 'zod';
import type { Attempt, JobKind } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import type { JobRow } from './table.ts';

const defaultTimeoutMs = 60_000;

/** How an attempt ended. `returned`: the worker stopped, the attempt does not count. `lost`: another worker has the job. */
export type Ending =
  | { readonly how: 'returned' | 'lost' }
  | { readonly how: 'done'; readonly result: unknown }
  | { readonly how: 'failed'; readonly error: unknown; readonly attempt: Omit<Attempt<any>, 'signal'> | undefined };

/** One attempt at one job, under way. */
export interface RunningAttempt {
  readonly ended: Promise<Ending>;
  /** Aborts the handler and says how its failure is to be read; when it succeeds all the same, that counts. */
  interrupt(how: 'returned' | 'lost'): void;
  /** Stops waiting for a handler that does not heed the abort. */
  abandon(): void;
}

/** Parses the payload and runs the handler, not longer than the kind allows. It begins once `settled`, if that is given. */
export function runAttempt(
  kind: JobKind<any>,
  row: JobRow,
  handler: (attempt: Attempt<any>) => Promise<unknown>,
  clock: Clock,
  settled?: Promise<unknown>,
): RunningAttempt {
  const controller = new AbortController();
  const waiting = Promise.withResolvers<never>();
  let interrupted: 'returned' | 'lost' | undefined;
  let overdue: Problem | undefined;

  const run = async (): Promise<Ending> => {
    const payload = z.safeParse(kind.schema, read(row.payload));
    if (!payload.success) {
      const where = payload.error.issues.map((issue) => issue.path.join('.') || 'the payload').join(', ');
      const detail = `The job was stored by another version and no longer fits: ${where}.`;
      const error = new Problem('jobs.outdated_payload', 500, detail, { cause: payload.error, retryable: false });
      return { how: 'failed', error, attempt: undefined };
    }
    if (settled !== undefined) await settled;
    if (interrupted !== undefined) return { how: interrupted };
    const timeoutMs = kind.timeoutMs ?? defaultTimeoutMs;
    using _timer = clock.after(timeoutMs, () => {
      overdue = new Problem('jobs.timeout', 504, `The attempt took longer than ${timeoutMs} ms.`);
      controller.abort(overdue);
      waiting.reject(overdue);
    });
    const attempt = {
      id: String(row.id),
      key: row.job_key ?? undefined,
      payload: payload.data as unknown,
      attempt: row.attempts,
      inLine: row.order_key !== null,
      createdAt: row.created_at,
    };
    try {
      const result = await Promise.race([handler({ ...attempt, signal: controller.signal }), waiting.promise]);
      return { how: 'done', result };
    } catch (error) {
      if (overdue !== undefined) return { how: 'failed', error: overdue, attempt };
      return interrupted === undefined ? { how: 'failed', error, attempt } : { how: interrupted };
    }
  };

  return {
    ended: run(),
    interrupt(how) {
      interrupted ??= how;
      controller.abort(new Problem('jobs.interrupted', 503, 'The host is stopping, or another one has taken the job.'));
    },
    abandon: () => waiting.reject(controller.signal.reason),
  };
}

/** Undefined for a row whose text was damaged. */
function read(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
