import * as m from '#messages/git-texts';
import { formatList } from '../../messages/format.ts';
import type { Health } from '../contracts/health.ts';
import type { Context } from '../contracts/service.ts';
import type { Text } from '../contracts/text.ts';
import type { GitMonitor } from './engine/git-monitor.ts';
import { loadOnDemand } from './load-on-demand.ts';
import type { RepositoriesFolder } from './repositories/repositories-folder.ts';
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
  readonly repositoriesFolder: Pick<RepositoriesFolder, 'problem'>;
}

export async function getHealth(sources: HealthSources): Promise<Health> {
  const { monitor, nameConflicts, repositories, repositoriesFolder } = sources;
  if (monitor.hasFailed) return { state: 'down', detail: m.startFailed };
  if (monitor.problem !== undefined) return await getProblemHealth(monitor.problem.text, sources);
  if (repositoriesFolder.problem !== undefined) {
    const remedy = { label: m.correctFolder, to: '/settings/git/repositoriesFolder', adminOnly: true } as const;
    return { state: 'degraded', detail: repositoriesFolder.problem.text, remedy };
  }
  if (nameConflicts.length > 0) {
    const count = nameConflicts.length;
    return { state: 'degraded', detail: () => m.nameConflicts({ count, names: formatList(nameConflicts) }) };
  }
  const count = await repositories.count();
  if (count === 0) return loadOnDemand.health;
  return { state: 'up', detail: () => m.repositoryCount({ count }) };
}

/** Returns the progress of an installation, or the problem with the action that solves it. */
async function getProblemHealth(detail: Text, { context, settings }: HealthSources): Promise<Health> {
  if (settings.gitPath !== '') {
    const remedy = { label: m.correctPath, to: '/settings/git/gitPath', adminOnly: true } as const;
    return { state: 'degraded', detail, remedy };
  }
  const work = context.engines.working('git');
  if (work !== undefined) {
    const running = [{ title: m.gitIsBeingInstalled, to: '/settings/engines', percent: work.percent }];
    return { state: 'up', detail: m.gitIsBeingInstalled, running };
  }
  const { mend } = await context.engines.find('git');
  return { state: 'degraded', detail, ...(mend !== undefined && { remedy: mend }) };
}
