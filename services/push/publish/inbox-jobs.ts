import { z } from 'zod';
import { inboxOffered, InboxOffer } from '../../contracts/inbox/api.ts';
import { defineJob } from '../../contracts/jobs.ts';
import type { Context } from '../../contracts/service.ts';

const Entry = z.object({ key: z.string(), offer: InboxOffer });

/** Job of versions before the feed, with several entries each. */
const toInbox = defineJob('push.inbox', z.object({ entries: z.array(Entry) }), { concurrency: 16 });

/** Processes jobs that an older version left in the data folder. No new ones are created. */
export function handleLegacyInboxJobs({ jobs, handovers }: Pick<Context, 'jobs' | 'handovers'>): Disposable {
  return jobs.handle(toInbox, async ({ payload }) => {
    const results = await Promise.allSettled(
      payload.entries.map(({ key, offer }) => handovers.pass(inboxOffered, key, offer)),
    );
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  });
}
