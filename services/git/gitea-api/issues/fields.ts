import { Problem } from '../../../contracts/problem.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { IssueParts } from './issue-access.ts';

/** Labels by their ids or their names. @throws Problem (422) for one that is not there */
export async function labelIdsOf(
  { db }: Pick<IssueParts, 'db'>,
  repository: Repository,
  wanted: readonly (number | string)[],
): Promise<readonly number[]> {
  if (wanted.length === 0) return [];
  const known = await db
    .selectFrom('labels')
    .select(['id', 'name'])
    .where('repository_id', '=', repository.id)
    .execute();
  return wanted.map((each) => {
    const found = known.find(({ id, name }) => (typeof each === 'number' ? id === each : name === each));
    if (found === undefined) throw new Problem('git.invalid', 422, `label does not exist [label_id: ${each}]`);
    return found.id;
  });
}

/** The milestone that a client names: null for none, undefined where it says nothing. @throws Problem (422) */
export async function milestoneOf(
  { db }: Pick<IssueParts, 'db'>,
  repository: Repository,
  wanted: number | undefined,
): Promise<number | null | undefined> {
  if (wanted === undefined) return undefined;
  if (wanted <= 0) return null;
  const found = await db
    .selectFrom('milestones')
    .select('id')
    .where('repository_id', '=', repository.id)
    .where('id', '=', wanted)
    .executeTakeFirst();
  if (found === undefined) throw new Problem('git.invalid', 422, `milestone does not exist [id: ${wanted}]`);
  return found.id;
}

/** Whether a state that a client names is closed; undefined where it names none. @throws Problem (422) */
export function isClosedState(state: string | undefined): boolean | undefined {
  if (state === undefined || state === '') return undefined;
  if (state !== 'open' && state !== 'closed') throw new Problem('git.invalid', 422, `unknown state: ${state}`);
  return state === 'closed';
}
