import type { GitEvent } from '../../contracts/git/overview-api.ts';
import { readCommits } from '../repositories/commits.ts';
import type { RestParts } from '../rest/parts.ts';

/** Events with what the commits say first that branches were moved to, in one run of git for each repository. */
export async function withTitles(
  { git, keeper, repositories }: Pick<RestParts, 'git' | 'keeper' | 'repositories'>,
  events: readonly GitEvent[],
): Promise<readonly GitEvent[]> {
  const moved = events.filter(({ commit, tag }) => commit !== '' && !tag);
  const titles = new Map<string, string>();
  const read = async (some: readonly GitEvent[]): Promise<void> => {
    const [first] = some;
    const repository = first && (await repositories.find(first.owner, first.name));
    if (repository === undefined) return;
    const commits = await readCommits(git, keeper.folder(repository), [...new Set(some.map(({ commit }) => commit))]);
    for (const { id, message } of commits.values()) titles.set(id, message.split('\n', 1)[0] ?? '');
  };
  const places = Map.groupBy(moved, ({ owner, name }) => `${owner}/${name}`);
  // What a damaged repository cannot tell is left out of the history, not the history.
  await Promise.allSettled([...places.values()].map(read));
  return events.map((event) => ({ ...event, title: (event.tag ? undefined : titles.get(event.commit)) ?? '' }));
}
