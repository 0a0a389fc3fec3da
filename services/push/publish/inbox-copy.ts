import { z } from 'zod';
import { inboxOffered, InboxOffer } from '../../contracts/inbox/api.ts';
import { defineJob } from '../../contracts/jobs.ts';
import type { Context } from '../../contracts/service.ts';
import { defaultPriority } from '../domain/priority.ts';
import type { Draft, Message } from '../domain/message.ts';

const Entry = z.object({ key: z.string(), offer: InboxOffer });
export type InboxEntry = z.infer<typeof Entry>;

/** Hands published messages to the inbox, some in each job. They begin in their order, and at once, so that they end in one commit of the inbox. */
export const toInbox = defineJob('push.inbox', z.object({ entries: z.array(Entry) }), { concurrency: 16 });

/** Entries a job holds at most: what its payload weighs, and what is passed again after a failure. */
const entriesPerJob = 50;
/** ms. Jobs fall due together at the end of each such stretch: under load the inbox then costs a commit a stretch, not one for each of ours. */
const stretch = 25;

/** What the inbox shows of a message; undefined for what is not meant for a person's eyes. */
export function inboxEntry(draft: Draft, message: Message): InboxEntry | undefined {
  if (draft.inbox === undefined) return undefined;
  return {
    key: draft.inbox.key ?? `push:${message.id}`,
    offer: {
      title: draft.title ?? '',
      body: draft.inbox.body,
      format: draft.markdown === true ? 'markdown' : 'text',
      priority: draft.priority ?? defaultPriority,
      tags: [...(draft.tags ?? [])],
      source: draft.inbox.source,
      topic: draft.topic,
      ...(draft.click && { link: draft.click }),
      time: message.time * 1000,
    },
  };
}

/** An entry that waited as text with its message. */
export function readEntry(text: string): InboxEntry {
  return Entry.parse(JSON.parse(text));
}

/** Splits entries into jobs. `now` in ms. */
export function inboxJobs(
  entries: readonly InboxEntry[],
  now: number,
): { payload: { entries: InboxEntry[] }; runAt: number }[] {
  const runAt = Math.ceil(now / stretch) * stretch;
  const jobs: ReturnType<typeof inboxJobs> = [];
  for (let at = 0; at < entries.length; at += entriesPerJob) {
    jobs.push({ payload: { entries: entries.slice(at, at + entriesPerJob) }, runAt });
  }
  return jobs;
}

/** Works the jobs; the inbox ignores a key that it knows, so passing one twice does no harm. */
export function handInboxJobs({ jobs, handovers }: Pick<Context, 'jobs' | 'handovers'>): Disposable {
  return jobs.handle(toInbox, async ({ payload }) => {
    // Together, so that the inbox commits them as one group, in this order.
    const passed = await Promise.allSettled(
      payload.entries.map(({ key, offer }) => handovers.pass(inboxOffered, key, offer)),
    );
    const failed = passed.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  });
}
