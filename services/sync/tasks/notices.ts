import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import { NotificationOffer, notificationOffered, NotificationType } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { causeOf } from '../domain/cause.ts';
import { numberIn } from '../domain/stats.ts';
import type { Job } from '../jobs/job.ts';
import type { Task } from '../store/tasks.ts';

const tell = defineJob(
  'sync.tell',
  z.object({ jobId: z.int(), title: z.string(), body: z.string(), type: NotificationType }),
);

/** Tells people how saved syncs ended. */
export class Notices {
  readonly #context: Pick<Context, 'appPages' | 'handovers' | 'jobs' | 'log'>;

  constructor(context: Pick<Context, 'appPages' | 'handovers' | 'jobs' | 'log'>) {
    this.#context = context;
  }

  /** Part of the transaction that writes what comes of the end. */
  async enqueue(transaction: Kysely<any>, { fields }: Task, job: Job): Promise<void> {
    const isDone = job.state === 'done';
    if (fields.notify === 'never' || (isDone && fields.notify === 'problems')) return;
    const payload = {
      jobId: job.id,
      title: `${fields.name}: ${isDone ? 'synced' : job.state === 'held' ? 'waits for you' : 'failed'}`,
      body: isDone ? doneText(job) : causeOf(job.error, job.order.source).error,
      type: isDone ? ('success' as const) : job.state === 'held' ? ('warning' as const) : ('failure' as const),
    };
    await this.#context.jobs.enqueue(transaction, tell, payload, { key: `sync:${String(job.id)}` });
  }

  handle(): Disposable {
    const { jobs, handovers, appPages, log } = this.#context;
    return jobs.handle(tell, async ({ key = '', payload: { jobId, ...notice } }) => {
      const page = appPages.forMessages();
      const link = page === undefined ? {} : { link: `${page}/sync/history/${String(jobId)}` };
      const offer = NotificationOffer.parse({ notice: { ...notice, ...link, tags: ['sync'], source: 'sync' } });
      try {
        await handovers.pass(notificationOffered, key, offer);
      } catch (error) {
        // Who has switched notifications off wants none, and none of these later.
        if (!(error instanceof Problem) || error.code !== 'handover.switched_off') throw error;
        log.debug('nobody is told: notifications are switched off', { key });
      }
    });
  }
}

function doneText({ stats }: Job): string {
  const [copied, deleted] = [numberIn(stats, 'transfers'), numberIn(stats, 'deletes')];
  return `${String(copied)} copied, ${String(deleted)} deleted.`;
}
