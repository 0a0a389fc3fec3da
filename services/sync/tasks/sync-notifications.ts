import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import { NotificationOffer, notificationOffered, NotificationType } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { explainFailure } from '../domain/failure-cause.ts';
import { getNumber } from '../domain/stats.ts';
import type { Job } from '../jobs/job.ts';
import type { Task } from '../store/tasks.ts';

const notificationJob = defineJob(
  'sync.tell',
  z.object({ jobId: z.int(), title: z.string(), body: z.string(), type: NotificationType }),
);

/** Sends notifications about results of sync tasks. */
export class SyncNotifications {
  readonly #context: Pick<Context, 'appPages' | 'handovers' | 'jobs' | 'log'>;

  constructor(context: Pick<Context, 'appPages' | 'handovers' | 'jobs' | 'log'>) {
    this.#context = context;
  }

  /** Enqueues a notification in the transaction that stores the result. */
  async enqueue(transaction: Kysely<any>, { fields }: Task, job: Job): Promise<void> {
    const isDone = job.state === 'done';
    if (fields.notify === 'never' || (isDone && fields.notify === 'problems')) return;
    const payload = {
      jobId: job.id,
      title: `${fields.name}: ${isDone ? 'synced' : job.state === 'held' ? 'waits for you' : 'failed'}`,
      body: isDone
        ? formatSuccess(job)
        : explainFailure({ error: job.error, code: job.errorCode }, job.order.source).error,
      type: isDone ? ('success' as const) : job.state === 'held' ? ('warning' as const) : ('failure' as const),
    };
    await this.#context.jobs.enqueue(transaction, notificationJob, payload, { key: `sync:${String(job.id)}` });
  }

  handle(): Disposable {
    const { jobs, handovers, appPages, log } = this.#context;
    return jobs.handle(notificationJob, async ({ key = '', payload: { jobId, ...notice } }) => {
      const page = appPages.forMessages();
      const link = page === undefined ? {} : { link: `${page}/sync/history/${String(jobId)}` };
      const offer = NotificationOffer.parse({ notice: { ...notice, ...link, tags: ['sync'], source: 'sync' } });
      try {
        await handovers.pass(notificationOffered, key, offer);
      } catch (error) {
        // With notifications disabled, the notification is dropped and not sent later.
        if (!(error instanceof Problem) || error.code !== 'handover.switched_off') throw error;
        log.debug('sync notification dropped: notifications are disabled', { key });
      }
    });
  }
}

function formatSuccess({ stats }: Job): string {
  const [copied, deleted] = [getNumber(stats, 'transfers'), getNumber(stats, 'deletes')];
  return `${String(copied)} copied, ${String(deleted)} deleted.`;
}
