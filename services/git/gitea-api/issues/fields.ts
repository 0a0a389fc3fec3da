import { Problem } from '../../../contracts/problem.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { RepositoryStorage } from '../../repositories/storage.ts';

/** Resolves labels by ID or name. @throws Problem (422) for an unknown label */
export async function resolveLabelIds(
  { db }: Pick<RepositoryStorage, 'db'>,
  repository: Repository,
  requested: readonly (number | string)[],
): Promise<readonly number[]> {
  if (requested.length === 0) return [];
  const labels = await db
    .selectFrom('labels')
    .select(['id', 'name'])
    .where('repository_id', '=', repository.id)
    .execute();
  return requested.map((each) => {
    const match = labels.find(({ id, name }) => (typeof each === 'number' ? id === each : name === each));
    if (match === undefined) throw new Problem('git.invalid', 422, `label does not exist [label_id: ${each}]`);
    return match.id;
  });
}

/** Resolves a milestone: null removes it, undefined leaves it unchanged. @throws Problem (422) */
export async function resolveMilestone(
  { db }: Pick<RepositoryStorage, 'db'>,
  repository: Repository,
  requested: number | undefined,
): Promise<number | null | undefined> {
  if (requested === undefined) return undefined;
  if (requested <= 0) return null;
  const match = await db
    .selectFrom('milestones')
    .select('id')
    .where('repository_id', '=', repository.id)
    .where('id', '=', requested)
    .executeTakeFirst();
  if (match === undefined) throw new Problem('git.invalid', 422, `milestone does not exist [id: ${requested}]`);
  return match.id;
}

/** Parses a state: true for closed, undefined when it is missing. @throws Problem (422) */
export function parseClosedState(state: string | undefined): boolean | undefined {
  if (state === undefined || state === '') return undefined;
  if (state !== 'open' && state !== 'closed') throw new Problem('git.invalid', 422, `unknown state: ${state}`);
  return state === 'closed';
}
