import * as m from '#messages/sync-texts';
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
  readonly #context: Pick<Context, 'appPages' | 'handovers' | 'inHostLanguage' | 'jobs' | 'log'>;

  constructor(context: Pick<Context, 'appPages' | 'handovers' | 'inHostLanguage' | 'jobs' | 'log'>) {
    this.#context = context;
  }

  /** Enqueues a notification in the transaction that stores the result. */
  async enqueue(transaction: Kysely<any>, { fields }: Task, job: Job): Promise<void> {
    const isDone = job.state === 'done';
    if (fields.notify === 'never' || (isDone && fields.notify === 'problems')) return;
    const payload = await this.#context.inHostLanguage(() => composeNotification(fields.name, job));
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

/** Composes the notification about a job in the current language. */
function composeNotification(name: string, job: Job): z.infer<typeof notificationJob.schema> {
  if (job.state === 'done')
    return { jobId: job.id, title: m.notificationDone({ name }), body: formatSuccess(job), type: 'success' };
  const isHeld = job.state === 'held';
  const title = isHeld ? m.notificationHeld({ name }) : m.notificationFailed({ name });
  const body = explainFailure(job.failure, job.order.source).error;
  return { jobId: job.id, title, body, type: isHeld ? 'warning' : 'failure' };
}

function formatSuccess({ stats }: Job): string {
  const [copied, deleted] = [getNumber(stats, 'transfers'), getNumber(stats, 'deletes')];
  return m.notificationCounts({ copied, deleted });
}
