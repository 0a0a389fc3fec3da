import * as m from '#messages/host-problems';
import { z } from 'zod';
import type { JobAttempt, JobKind } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Random } from '../../../services/contracts/service.ts';
import type { Outcome } from './job-end.ts';
import type { KindState } from './kind-state.ts';
import { parse } from './parse.ts';
import { getFailureOutcome } from './retry-policy.ts';
import type { JobRow } from './table.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';

const defaultTimeoutMs = 60_000;

/** Running attempt of a job. */
export interface RunningAttempt {
  readonly ended: Promise<Outcome>;
  /** Aborts the handler; its failure then does not count, but its success does. */
  interrupt(): void;
  /** Stops waiting for a handler that ignores the abort. */
  abandon(): void;
}

/** Parses the payload and runs the handler within the time limit of the kind, once `settled` resolves if given. */
export function runAttempt(
  { kind, handler }: Pick<KindState, 'kind' | 'handler'>,
  row: JobRow,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  settled?: Promise<unknown>,
): RunningAttempt {
  const controller = new AbortController();
  // Resolves when the handler is no longer awaited.
  const abandoned = Promise.withResolvers<() => Outcome>();
  const returned: Outcome = { row, how: 'returned' };
  let isInterrupted = false;
  const failed = (error: unknown, attempt?: Omit<JobAttempt<any>, 'signal'>): Outcome =>
    getFailureOutcome(kind, row, { error, attempt }, clock.now(), random);

  let timer: Disposable | undefined;
  const run = async (): Promise<Outcome> => {
    const payload = readPayload(kind, row);
    if (!payload.success) return failed(buildOutdatedPayloadError(payload.error));
    if (settled !== undefined) await settled;
    if (isInterrupted) return returned;
    const attempt = toAttempt(row, payload.data);
    const timeoutMs = kind.timeoutMs ?? defaultTimeoutMs;
    const overdue = (): void => {
      const error = new Problem('jobs.timeout', 504, () => m.attemptTimeout({ seconds: timeoutMs / 1000 }));
      abandoned.resolve(() => failed(error, attempt));
      controller.abort(error);
    };
    timer = clock.after(timeoutMs, overdue);
    try {
      return { row, how: 'done', result: await handler({ ...attempt, signal: controller.signal }) };
    } catch (error) {
      return isInterrupted ? returned : failed(error, attempt);
    }
  };

  const end = async (): Promise<Outcome> => {
    try {
      return await Promise.race([run(), abandoned.promise.then((outcome) => outcome())]);
    } finally {
      timer?.[Symbol.dispose]();
    }
  };

  return {
    ended: end(),
    interrupt() {
      isInterrupted = true;
      controller.abort(new Problem('jobs.interrupted', 503, m.jobInterrupted));
    },
    abandon: () => abandoned.resolve(() => returned),
  };
}

/** Returns the attempt that a handler receives. */
export function toAttempt(row: JobRow, payload: unknown): Omit<JobAttempt<any>, 'signal'> {
  return {
    id: String(row.id),
    key: row.job_key ?? undefined,
    payload,
    attempt: row.attempts,
    hasSuccessors: row.order_key !== null,
    createdAt: row.created_at,
  };
}

function buildOutdatedPayloadError(cause: unknown): Problem {
  const issues = cause instanceof z.ZodError ? cause.issues : [];
  const context = issues.map(({ path }) => path.join('.')).filter((path) => path !== '');
  const detail = (): string => m.jobOutdated({ fields: context.join(', ') || 'payload' });
  return new Problem('jobs.outdated_payload', 500, detail, { cause, retryable: false });
}

/** Parses the stored payload with the kind's schema. */
export function readPayload<T>(kind: JobKind<T>, { payload }: JobRow): ReturnType<typeof parse<T>> {
  return parse(kind.schema, parseJson(payload));
}
