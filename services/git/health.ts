import type { Health } from '../contracts/health.ts';
import type { Problem } from '../contracts/problem.ts';
import type { Repositories } from './repositories/repositories.ts';
import { loadOnDemand } from './load-on-demand.ts';

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
  if (count === 0) return loadOnDemand.health;
  return { state: 'up', detail: count === 1 ? '1 repository' : `${count} repositories` };
}
