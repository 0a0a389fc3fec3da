import * as m from '#messages/git-problems';
import { Problem } from '../../contracts/problem.ts';

/** Returns true if a write failed because the disk or the quota of the operating system account is full. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

/** `git.disk_full` (507): a failure of the server, not of the request. */
export function buildDiskFullProblem(cause?: unknown): Problem {
  return new Problem('git.disk_full', 507, m.diskFull, {
    cause,
    retryable: false,
  });
}
