import * as m from '#messages/host-problems';
import { Problem } from '../../../services/contracts/problem.ts';

export function buildMissingProblem(cause?: unknown): Problem {
  return new Problem('blobs.missing', 404, m.blobMissing, { cause });
}

export function buildExistsProblem(cause?: unknown): Problem {
  return new Problem('blobs.exists', 409, m.blobExists, { cause });
}

export function buildMismatchProblem(): Problem {
  return new Problem('blobs.mismatch', 422, m.blobMismatch, { retryable: false });
}

/** Stored content is not what was written. */
export function buildDamagedProblem(): Problem {
  return new Problem('blobs.damaged', 500, m.blobDamaged, { retryable: false });
}
