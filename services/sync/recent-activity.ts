import * as m from '#messages/sync-texts';
import type { RecentActivityQuery, RecentEvent } from '../contracts/recent-activity.ts';
import type { JobStore } from './store/jobs.ts';
import type { TaskStore } from './store/tasks.ts';

/**
 * Returns the latest successful runs of saved syncs. Failed runs, and successful ones of syncs that always notify, are
 * messages in the inbox.
 */
export async function readRecentActivity(
  { runs, taskStore }: { readonly runs: Pick<JobStore, 'list'>; readonly taskStore: Pick<TaskStore, 'list'> },
  { identity, rights, limit }: RecentActivityQuery,
): Promise<readonly RecentEvent[]> {
  const account = rights.all ? {} : { account: identity?.account ?? '' };
  const [rows, tasks] = await Promise.all([
    runs.list({ ...account, ended: { well: true }, limit: limit * 2 }),
    taskStore.list(),
  ]);
  return rows.flatMap(({ id, task_id, ended_at }) => {
    const task = tasks.find((each) => each.id === task_id);
    if (task === undefined || ended_at === null || task.fields.notify === 'always') return [];
    return [
      {
        id: String(id),
        title: m.notificationDone({ name: task.fields.name }),
        detail: '',
        to: `/sync/history/${String(id)}`,
        time: ended_at,
      },
    ];
  });
}
