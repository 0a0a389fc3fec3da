import { Problem } from '../../contracts/problem.ts';

/** Creates the error for a backup of a repository that cannot be restored. */
export function buildInvalidBackupProblem(detail: string, cause?: unknown): Problem {
  return new Problem('git.bad_backup', 422, detail, { cause });
}
