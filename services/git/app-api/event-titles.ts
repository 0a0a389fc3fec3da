import type { GitEvent } from '../../contracts/git/overview-api.ts';
import { readCommits } from '../repositories/commits.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';

/** Maximum number of repositories read at a time, one process each. */
const maxConcurrent = 2;
/** Maximum length of a title, characters. */
const maxTitleLength = 300;

/** Adds the titles of pushed commits to events, with one run of git for each repository. */
export async function withTitles(
  { git, manager, repositories }: Pick<RepositoryStorage, 'git' | 'manager' | 'repositories'>,
  events: readonly GitEvent[],
): Promise<readonly GitEvent[]> {
  const commitEvents = events.filter(({ commit, tag }) => commit !== '' && !tag);
  const titles = new Map<string, string>();
  const read = async (batch: readonly GitEvent[]): Promise<void> => {
    const [first] = batch;
    const repository = first && (await repositories.find(first.owner, first.name));
    if (repository === undefined) return;
    const commits = await readCommits(git, manager.getFolder(repository), [
      ...new Set(batch.map(({ commit }) => commit)),
    ]);
    for (const { id, message } of commits.values()) titles.set(id, getTitle(message));
  };
  const queue = [...Map.groupBy(commitEvents, ({ owner, name }) => `${owner}/${name}`).values()];
  const worker = async (): Promise<void> => {
    // A damaged repository only loses its titles; the events stay.
    for (let batch = queue.pop(); batch !== undefined; batch = queue.pop()) await read(batch).catch(() => undefined);
  };
  await Promise.all(Array.from({ length: maxConcurrent }, worker));
  return events.map((event) => ({ ...event, title: (event.tag ? undefined : titles.get(event.commit)) ?? '' }));
}

/** Returns the first line that is not empty. */
function getTitle(message: string): string {
  return (message.trim().split('\n', 1)[0] ?? '').slice(0, maxTitleLength);
}
