import * as m from '#messages/host-problems';
import type { JobAttempt, JobKind } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Random } from '../../../services/contracts/service.ts';
import type { Outcome } from './job-end.ts';
import type { JobRow } from './table.ts';
import { getListedDelayMs } from '../../../services/kit/backoff.ts';

const defaultBackoffMs: readonly number[] = [5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000];
const defaultMaxAgeMs = 24 * 3_600_000;

/** Maximum length of a stored failure reason. */
const maxReasonLength = 500;

/** Returns the outcome of a failed attempt. */
export function getFailureOutcome(
  kind: JobKind<any>,
  row: JobRow,
  { error, attempt }: { readonly error: unknown; readonly attempt: Omit<JobAttempt<any>, 'signal'> | undefined },
  now: number,
  random: Random,
): Outcome {
  const reason = getReason(error);
  const runAt = nextAttemptAt(kind, row, error, now, random);
  if (runAt === undefined) return { row, how: 'dead', error, reason, attempt };
  return { row, how: 'retried', error, reason, runAt, aside: error instanceof Problem && error.stepsAside };
}

/** Returns undefined when the job becomes a dead letter. */
function nextAttemptAt(
  kind: JobKind<any>,
  job: JobRow,
  error: unknown,
  now: number,
  random: Random,
): number | undefined {
  if (error instanceof Problem && !error.retryable) return undefined;
  if (now - job.created_at >= (kind.maxAgeMs ?? defaultMaxAgeMs)) return undefined;
  const wait = getListedDelayMs(kind.backoffMs ?? defaultBackoffMs, job.attempts);
  const requestedAt = error instanceof Problem ? (error.retryAfterMs ?? 0) : 0;
  return now + Math.max(Math.round(wait * (0.8 + 0.4 * jitter(random))), requestedAt);
}

/** Returns a number from 0 up to, but not including, 1. */
function jitter(random: Random): number {
  const [high = 0, low = 0] = random.bytes(2);
  return (high * 256 + low) / 65_536;
}

/**
 * Returns the reason of a failure for pages: the detail of a Problem contains no secret, the message of any other
 * error might.
 */
function getReason(error: unknown): string {
  if (error instanceof Problem) return error.detail.slice(0, maxReasonLength);
  return m.jobFailed({ error: error instanceof Error ? error.name : 'error' });
}
