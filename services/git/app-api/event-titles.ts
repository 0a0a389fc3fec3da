import type { GitEvent } from '../../contracts/git/overview-api.ts';
import { readCommits } from '../repositories/commits.ts';
import type { RestParts } from '../gitea-api/api-dependencies.ts';

/** So many repositories are read at a time: each is a process. */
const mostAtOnce = 2;
/** As much of a title is told, in characters. */
const longest = 300;

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
    for (const { id, message } of commits.values()) titles.set(id, titleOf(message));
  };
  const waiting = [...Map.groupBy(moved, ({ owner, name }) => `${owner}/${name}`).values()];
  const lane = async (): Promise<void> => {
    // What a damaged repository cannot tell is left out of the history, not the history.
    for (let some = waiting.pop(); some !== undefined; some = waiting.pop()) await read(some).catch(() => undefined);
  };
  await Promise.all(Array.from({ length: mostAtOnce }, lane));
  return events.map((event) => ({ ...event, title: (event.tag ? undefined : titles.get(event.commit)) ?? '' }));
}

/** The first line that says something. */
function titleOf(message: string): string {
  return (message.trim().split('\n', 1)[0] ?? '').slice(0, longest);
}
