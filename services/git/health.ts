import type { Health, SuggestedAction } from '../contracts/health.ts';
import type { Context } from '../contracts/service.ts';
import type { GitMonitor } from './engine/git-monitor.ts';
import { loadOnDemand } from './load-on-demand.ts';
import type { Repositories } from './repositories/repositories.ts';
import type { Settings } from './settings.ts';

/** Parts of the service that its health depends on. */
export interface HealthSources {
  readonly context: Pick<Context, 'engines'>;
  readonly settings: Pick<Settings, 'gitPath'>;
  readonly monitor: Pick<GitMonitor, 'hasFailed' | 'problem'>;
  /** Names that an organization and an account share. */
  readonly nameConflicts: readonly string[];
  readonly repositories: Pick<Repositories, 'count'>;
}

export async function getHealth(sources: HealthSources): Promise<Health> {
  const { monitor, nameConflicts, repositories } = sources;
  if (monitor.hasFailed) return { state: 'down', detail: 'the start after the installation of Git failed' };
  if (monitor.problem !== undefined) return await getProblemHealth(monitor.problem.detail, sources);
  if (nameConflicts.length > 0) {
    const names = nameConflicts.join(', ');
    return {
      state: 'degraded',
      detail: `${names}: an organization and an account have the same name; rename one of them`,
    };
  }
  const count = await repositories.count();
  if (count === 0) return loadOnDemand.health;
  return { state: 'up', detail: count === 1 ? '1 repository' : `${count} repositories` };
}

/** Returns the progress of an installation, or the problem with the action that solves it. */
async function getProblemHealth(detail: string, { context, settings }: HealthSources): Promise<Health> {
  if (settings.gitPath !== '') {
    const remedy: SuggestedAction = { label: 'Correct its path', to: '/settings/git/gitPath', adminOnly: true };
    return { state: 'degraded', detail, remedy };
  }
  const work = context.engines.working('git');
  if (work !== undefined) {
    const running = [{ title: 'Git is being installed', to: '/settings/engines', percent: work.percent }];
    return { state: 'up', detail: 'Git is being installed', running };
  }
  const { mend } = await context.engines.find('git');
  return { state: 'degraded', detail, ...(mend !== undefined && { remedy: mend }) };
}
