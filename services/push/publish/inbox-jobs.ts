import { z } from 'zod';
import { inboxOffered, InboxOffer } from '../../contracts/inbox/api.ts';
import { defineJob } from '../../contracts/jobs.ts';
import type { Context } from '../../contracts/service.ts';

const Entry = z.object({ key: z.string(), offer: InboxOffer });

/** As versions before the feed enqueued them, some entries in each. */
const toInbox = defineJob('push.inbox', z.object({ entries: z.array(Entry) }), { concurrency: 16 });

/** Works the jobs that an older version left in the data folder; nothing enqueues more of them. */
export function handOldInboxJobs({ jobs, handovers }: Pick<Context, 'jobs' | 'handovers'>): Disposable {
  return jobs.handle(toInbox, async ({ payload }) => {
    const passed = await Promise.allSettled(
      payload.entries.map(({ key, offer }) => handovers.pass(inboxOffered, key, offer)),
    );
    const failed = passed.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  });
}
