import * as m from '#messages/notify-problems';
import type { Context } from '../../contracts/service.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { notifyApi } from '../../contracts/notify/api.ts';
import type { JobSummary } from '../../contracts/jobs.ts';
import type { NotifyHistoryEntry } from '../../contracts/notify/history.ts';
import { Problem } from '../../contracts/problem.ts';
import { deliver } from '../deliver/job.ts';
import { forEachJob } from '../deliver/for-each-job.ts';
import { destinationId } from '../destinations/catalogue.ts';
import type { History, PastNotification } from '../history/history.ts';
import type { ApiDependencies } from './dependencies.ts';

const okReply = { ok: true } as const;
const deadJobs = { state: 'dead', kind: deliver.name } as const;
/** Maximum number of job keys in one query. */
const batchSize = 500;

/** Handles routes for the history and for retries. */
export function notificationHandlers(dependencies: ApiDependencies, history: History): readonly ApiHandler[] {
  return [
    ...historyRoutes(dependencies, history),
    ...retryRoutes(dependencies, history),
    ...dropRoutes(dependencies, history),
  ];
}

/** Routes that list notifications and send them again. */
function historyRoutes(dependencies: ApiDependencies, history: History): readonly ApiHandler[] {
  const { context } = dependencies;
  const { notifications } = dependencies.stores;
  const { jobs } = context;
  return [
    implement(notifyApi.notices, async ({ query }) => {
      await jobs.flush();
      const [list, givenUp, waiting] = await Promise.all([
        history.list(query),
        jobs.count('dead'),
        notifications.countWaiting(),
      ]);
      return { notices: await addJobState(context, list), givenUp, waiting };
    }),
    implement(notifyApi.notice, async ({ params }) => {
      await jobs.flush();
      const [notification] = await addJobState(context, await history.list({ id: params['id'] ?? '', limit: 1 }));
      if (notification !== undefined) return notification;
      throw new Problem('notify.unknown_notice', 404, m.notificationGone());
    }),
    implement(notifyApi.resend, ({ params }) => resend(dependencies, history, params['id'] ?? '')),
  ];
}

/** Routes that retry deliveries. */
function retryRoutes({ activity, context }: ApiDependencies, history: History): readonly ApiHandler[] {
  const { jobs } = context;
  return [
    implement(notifyApi.retry, async ({ body }) => {
      await jobs.retry((await getJob(jobs, body)).id);
      activity.touch();
      return okReply;
    }),
    implement(notifyApi.retryAll, async ({ body: { cause, waiting = false } }) => {
      let retried = 0;
      for (const state of waiting ? (['dead', 'waiting'] as const) : (['dead'] as const)) {
        const matchesCause = await createCauseFilter(jobs, history, cause, state);
        retried += await forEachJob(
          jobs,
          { ...deadJobs, state },
          async (job) => matchesCause(job) && jobs.retry(job.id),
        );
      }
      activity.touch();
      return { retried };
    }),
  ];
}

/** Routes that drop deliveries. */
function dropRoutes({ activity, context }: ApiDependencies, history: History): readonly ApiHandler[] {
  const { jobs } = context;
  return [
    implement(notifyApi.dropAll, async ({ body: { before, cause } }) => {
      const matchesCause = await createCauseFilter(jobs, history, cause);
      const droppedCount = await forEachJob(
        jobs,
        deadJobs,
        async (job) => job.createdAt < before && matchesCause(job) && jobs.drop(job.id),
      );
      context.log.info('dead letters dropped', { count: droppedCount });
      activity.touch();
      return { dropped: droppedCount };
    }),
    implement(notifyApi.drop, async ({ body }) => {
      const { id, state } = await getJob(jobs, body);
      if (state !== 'dead') throw new Problem('notify.not_given_up', 409, m.deliveryNotFailed());
      await jobs.drop(id);
      context.log.info('dead letter dropped', { notice: body.notice });
      activity.touch();
      return okReply;
    }),
  ];
}

/** @throws Problem `notify.not_given_up` (404) when the delivery is neither waiting nor given up */
async function getJob(
  jobs: Context['jobs'],
  { notice, destination }: { readonly notice: string; readonly destination: string },
): Promise<JobSummary> {
  const [job] = await jobs.list({ kind: deliver.name, keys: [`${notice}:${destination}`], limit: 1 });
  if (job?.state === 'dead' || job?.state === 'waiting') return job;
  throw new Problem('notify.not_given_up', 404, m.deliveryFinished());
}

/** Returns a filter for the deliveries with this latest failure reason; without a reason, it accepts all. */
async function createCauseFilter(
  jobs: Context['jobs'],
  history: History,
  cause: string | undefined,
  state: 'waiting' | 'dead' = 'dead',
): Promise<(job: JobSummary) => boolean> {
  if (cause === undefined) return () => true;
  await jobs.flush();
  const keys = await history.findFailed(cause, state);
  return ({ key }) => key !== null && keys.has(key);
}

/** Adds the state of the jobs: the time of the next attempt, and whether a retry is possible. */
async function addJobState(
  { clock, jobs }: Pick<Context, 'clock' | 'jobs'>,
  list: readonly PastNotification[],
): Promise<NotifyHistoryEntry[]> {
  const keys = list.flatMap(({ id, deliveries }) =>
    deliveries.flatMap(({ state, destination }) => (state === 'done' ? [] : [`${id}:${destination}`])),
  );
  const jobsByKey = new Map<string, JobSummary>();
  for (let start = 0; start < keys.length; start += batchSize) {
    const keyBatch = keys.slice(start, start + batchSize);
    for (const job of await jobs.list({ kind: deliver.name, keys: keyBatch, limit: batchSize }))
      jobsByKey.set(job.key ?? '', job);
  }
  return list.map((notification) => ({
    ...notification,
    deliveries: notification.deliveries.map((each) => {
      const job = jobsByKey.get(`${notification.id}:${each.destination}`);
      const isWaiting = each.state === 'waiting' && job?.state === 'waiting';
      // A job that is due starts with the next turn.
      const nextAt = isWaiting ? Math.max(job.runAt, clock.now()) : null;
      return { ...each, nextAt, givenUp: each.state === 'dead' && job?.state === 'dead' };
    }),
  }));
}

/** Sends a notification again to those of its destinations that its key still has. */
async function resend(
  { aggregator, stores: { attachments, folder } }: ApiDependencies,
  history: History,
  id: string,
): Promise<{ destinations: number; filesGone: number }> {
  const past = await history.find(id);
  if (past === undefined) throw new Problem('notify.unknown_notice', 404, m.notificationGone());
  const existingEntries = (await aggregator.find(past.configuration))?.entries ?? [];
  const entries = existingEntries
    .flatMap(({ destination, ...rest }) =>
      (destination.parts ?? [destination]).map((part) => ({ ...rest, destination: part })),
    )
    .filter(({ destination }) => past.destinations.includes(destinationId(destination)));
  if (entries.length === 0) {
    throw new Problem('notify.no_destination', 409, m.notificationWithoutDestination());
  }
  const storedFiles = await attachments.list(id);
  const copies = (await Promise.all(storedFiles.map((each) => folder.copy(each)))).filter((each) => each !== undefined);
  let isAccepted = false;
  try {
    isAccepted = (await aggregator.post(past.configuration, entries, past.content, { files: copies })).length > 0;
  } finally {
    if (!isAccepted) await folder.remove(copies.map(({ file }) => file));
  }
  return { destinations: entries.length, filesGone: Math.max(0, past.files - copies.length) };
}
