import type { Health } from '../contracts/health.ts';
import type { Problem } from '../contracts/problem.ts';
import type { Repositories } from './repositories/repositories.ts';

/** Conditions that an administrator has to resolve. */
export interface GitProblems {
  /** Set when git cannot run, as when it is not installed. */
  git?: Problem;
  /** Names that an organization and an account share. */
  nameConflicts: readonly string[];
}

export async function getHealth(problems: GitProblems, repositories: Repositories): Promise<Health> {
  if (problems.git !== undefined) return { state: 'degraded', detail: problems.git.detail };
  if (problems.nameConflicts.length > 0) {
    const names = problems.nameConflicts.join(', ');
    return {
      state: 'degraded',
      detail: `${names}: an organization and an account have the same name; rename one of them`,
    };
  }
  const count = await repositories.count();
  const begin = { label: 'Make a first repository', to: '/git' };
  const detail = count === 0 ? 'no repositories yet' : count === 1 ? '1 repository' : `${count} repositories`;
  return { state: 'up', detail, ...(count === 0 ? { begin } : {}) };
}
