import * as m from '#messages/git-texts';
import type { GitEvent } from '../contracts/git/overview-api.ts';
import type { RecentActivityQuery, RecentEvent } from '../contracts/recent-activity.ts';
import { readHistory } from './repositories/history.ts';
import type { RouteDependencies } from './components.ts';
import { anonymousCaller } from './sign-in/caller.ts';

/** Events that Home lists. Comments and reviews are left out, so that they do not displace other services. */
const formats: Partial<Record<GitEvent['kind'], (event: GitEvent) => string>> = {
  pushed: ({ account, what: branch }) => m.recentPush({ account, branch }),
  created: ({ account, what: branch }) => m.recentPush({ account, branch }),
  opened: ({ account, what: title }) => m.recentOpened({ account, title }),
  closed: ({ account, what: title }) => m.recentClosed({ account, title }),
  merged: ({ account, what: title }) => m.recentMerged({ account, title }),
  released: ({ account, what: title }) => m.recentReleased({ account, title }),
};

/** Returns the latest pushes, issues, pull requests and releases in repositories that the reader may see. */
export async function readRecentActivity(
  { storage, accessControl }: Pick<RouteDependencies, 'storage' | 'accessControl'>,
  { identity, limit }: RecentActivityQuery,
): Promise<readonly RecentEvent[]> {
  const visibility = await accessControl.access.getVisibility({ ...anonymousCaller, identity });
  const events = await readHistory(storage, visibility, { limit: limit * 2 });
  return events.flatMap((event) => {
    const title = formats[event.kind]?.(event);
    if (title === undefined) return [];
    const { id, owner, name, time } = event;
    return [{ id, title, detail: `${owner}/${name}`, to: getPath(event), time }];
  });
}

function getPath({ owner, name, kind, number, pull, commit }: GitEvent): string {
  const repository = `/git/repositories/${encodeURIComponent(`${owner}~${name}`)}`;
  if (number !== null) return `${repository}?show=${pull ? 'pulls' : 'issues'}&number=${String(number)}`;
  if (kind === 'released') return `${repository}?show=releases`;
  return commit === '' ? repository : `${repository}?commit=${commit}`;
}
