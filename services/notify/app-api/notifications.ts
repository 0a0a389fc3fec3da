import { implement, type ApiHandler } from '../../contracts/api.ts';
import { notifyApi } from '../../contracts/notify/api.ts';
import type { JobSummary } from '../../contracts/jobs.ts';
import type { NotifyHistoryEntry } from '../../contracts/notify/history.ts';
import { Problem } from '../../contracts/problem.ts';
import { deliver } from '../deliver/job.ts';
import { forEachJob } from '../deliver/for-each-job.ts';
import { destinationId } from '../destinations/catalogue.ts';
import type { History, PastNotice } from '../store/history.ts';
import type { ApiParts } from './dependencies.ts';

const done = { ok: true } as const;
const dead = { state: 'dead', kind: deliver.name } as const;
/** Names of jobs that are asked for in one statement. */
const batch = 500;

/** What was sent, what became of it, and another try. */
export function noticeHandlers(parts: ApiParts, history: History): readonly ApiHandler[] {
  const { activity, aggregator, context, notices } = parts;
  const { clock, jobs } = context;
  const jobOf = async ({ notice, destination }: { notice: string; destination: string }): Promise<JobSummary> => {
    const [job] = await jobs.list({ kind: deliver.name, keys: [`${notice}:${destination}`], limit: 1 });
    if (job?.state === 'dead' || job?.state === 'waiting') return job;
    throw new Problem(
      'notify.not_given_up',
      404,
      'This delivery neither waits nor is among the given-up ones any more.',
    );
  };
  /** Tells which deliveries are meant: those of which this was said last, or all. */
  const failedFor = async (
    cause: string | undefined,
    state: 'waiting' | 'dead' = 'dead',
  ): Promise<(job: JobSummary) => boolean> => {
    if (cause === undefined) return () => true;
    await jobs.flush();
    const keys = await history.failedFor(cause, state);
    return ({ key }) => key !== null && keys.has(key);
  };
  /** With what the jobs know: when those that wait are tried next, and which can be tried again. */
  const shown = async (list: readonly PastNotice[]): Promise<NotifyHistoryEntry[]> => {
    const keys = list.flatMap(({ id, deliveries }) =>
      deliveries.flatMap(({ state, destination }) => (state === 'done' ? [] : [`${id}:${destination}`])),
    );
    const known = new Map<string, JobSummary>();
    for (let start = 0; start < keys.length; start += batch) {
      const some = keys.slice(start, start + batch);
      for (const job of await jobs.list({ kind: deliver.name, keys: some, limit: batch }))
        known.set(job.key ?? '', job);
    }
    return list.map((notice) => ({
      ...notice,
      deliveries: notice.deliveries.map((each) => {
        const job = known.get(`${notice.id}:${each.destination}`);
        const waits = each.state === 'waiting' && job?.state === 'waiting';
        // One whose time has come goes with the next turn.
        const nextAt = waits ? Math.max(job.runAt, clock.now()) : null;
        return { ...each, nextAt, givenUp: each.state === 'dead' && job?.state === 'dead' };
      }),
    }));
  };
  return [
    implement(notifyApi.notices, async ({ query }) => {
      await jobs.flush();
      const [list, givenUp, waiting] = await Promise.all([
        history.list(query),
        jobs.count('dead'),
        notices.countWaiting(),
      ]);
      return { notices: await shown(list), givenUp, waiting };
    }),
    implement(notifyApi.notice, async ({ params }) => {
      await jobs.flush();
      const [notice] = await shown(await history.list({ id: params['id'] ?? '', limit: 1 }));
      if (notice !== undefined) return notice;
      throw new Problem('notify.unknown_notice', 404, 'This notification is not kept any more.');
    }),
    implement(notifyApi.resend, async ({ params }) => {
      const past = await history.find(params['id'] ?? '');
      if (past === undefined)
        throw new Problem('notify.unknown_notice', 404, 'This notification is not kept any more.');
      const known = (await aggregator.find(past.configuration))?.entries ?? [];
      const again = known
        .flatMap(({ destination, ...rest }) =>
          (destination.parts ?? [destination]).map((part) => ({ ...rest, destination: part })),
        )
        .filter(({ destination }) => past.destinations.includes(destinationId(destination)));
      if (again.length === 0) {
        throw new Problem('notify.no_destination', 409, 'Its key has none of these destinations any more.');
      }
      const id = params['id'] ?? '';
      const kept = await parts.attachments.of(id);
      const copies = (await Promise.all(kept.map((each) => parts.folder.copy(each)))).filter(
        (each) => each !== undefined,
      );
      let isTaken = false;
      try {
        isTaken = (await aggregator.post(past.configuration, again, past.notice, { files: copies })).length > 0;
      } finally {
        if (!isTaken) await parts.folder.remove(copies.map(({ file }) => file));
      }
      return { destinations: again.length, filesGone: Math.max(0, past.files - copies.length) };
    }),
    implement(notifyApi.retry, async ({ body }) => {
      await jobs.retry((await jobOf(body)).id);
      activity.touch();
      return done;
    }),
    implement(notifyApi.retryAll, async ({ body: { cause, waiting = false } }) => {
      let retried = 0;
      for (const state of waiting ? (['dead', 'waiting'] as const) : (['dead'] as const)) {
        const isMeant = await failedFor(cause, state);
        retried += await forEachJob(jobs, { ...dead, state }, async (job) => isMeant(job) && jobs.retry(job.id));
      }
      activity.touch();
      return { retried };
    }),
    implement(notifyApi.dropAll, async ({ body: { before, cause } }) => {
      const isMeant = await failedFor(cause);
      const dropped = await forEachJob(
        jobs,
        dead,
        async (job) => job.createdAt < before && isMeant(job) && jobs.drop(job.id),
      );
      context.log.info('given-up notifications dropped', { count: dropped });
      activity.touch();
      return { dropped };
    }),
    implement(notifyApi.drop, async ({ body }) => {
      const { id, state } = await jobOf(body);
      if (state !== 'dead') throw new Problem('notify.not_given_up', 409, 'This delivery is not given up yet.');
      await jobs.drop(id);
      context.log.info('given-up notification dropped', { notice: body.notice });
      activity.touch();
      return done;
    }),
  ];
}
