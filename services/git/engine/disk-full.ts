import { Problem } from '../../contracts/problem.ts';

/** The system's words for it, and those of git's own where it checks what it writes. */
const wordsOfGit = /No space left on device|Disk quota exceeded|Out of diskspace/i;

/** Whether a write failed because the disk, or the part of it that the account may use, is full. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

/** The same for what git complains of. */
export function saysDiskFull(stderr: string): boolean {
  return wordsOfGit.test(stderr);
}

/** `git.disk_full` (507): nobody's fault who asked, and no statement about what they sent. */
export function diskFull(cause?: unknown): Problem {
  return new Problem('git.disk_full', 507, 'There is no space left on the disk of the server.', {
    cause,
    retryable: false,
  });
}
