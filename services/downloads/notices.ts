import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineJob } from '../contracts/jobs.ts';
import { NoticeOffer, noticeOffered } from '../contracts/notice.ts';
import type { Context } from '../contracts/service.ts';
import type { Item } from './domain/item.ts';

/** Hands the news of a finished or failed download over to the aggregator. */
const tell = defineJob('downloads.tell', z.object({ key: z.string(), offer: NoticeOffer }));

export function handleNotices({ jobs, handovers }: Context): Disposable {
  return jobs.handle(tell, async ({ payload }) => await handovers.pass(noticeOffered, payload.key, payload.offer));
}

/** Part of the transaction that ends the download, so that the news is told exactly when the state is stored. */
export async function enqueueNotice(
  context: Context,
  transaction: Kysely<any>,
  item: Item,
  /** The service's paths begin with it; ends in a slash. */
  prefix = '/',
): Promise<void> {
  const finished = item.state === 'finished';
  const base = context.address('downloads');
  const path = item.filename?.split('/').map(encodeURIComponent).join('/');
  const files = `${prefix}${item.order.type === 'audio' ? 'audio_download' : 'download'}`;
  // A download that was retried has news again.
  const key = `download:${item.uid}:${item.state}${item.attempts > 1 ? `:${item.attempts}` : ''}`;
  const offer = NoticeOffer.parse({
    notice: {
      title: finished ? 'Download finished' : 'Download failed',
      body: finished || item.message === null ? item.title : `${item.title}\n${item.message}`,
      type: finished ? 'success' : 'failure',
      tags: ['download', finished ? 'finished' : 'failed'],
      source: 'downloads',
      ...(finished && base !== undefined && path !== undefined ? { link: `${base}${files}/${path}` } : {}),
    },
  });
  await context.jobs.enqueue(transaction, tell, { key, offer }, { key });
}

/** Tells of a subscription that keeps failing; part of the transaction that counts the failure. */
export async function enqueueFeedNotice(
  context: Context,
  transaction: Kysely<any>,
  feed: { readonly id: string; readonly name: string; readonly reason: string; readonly at: number },
): Promise<void> {
  const key = `subscription:${feed.id}:${feed.at}`;
  const page = context.address('control');
  const offer = NoticeOffer.parse({
    notice: {
      title: 'A subscription keeps failing',
      body: `${feed.name}\n${feed.reason}`,
      type: 'warning',
      tags: ['download', 'subscription'],
      source: 'downloads',
      ...(page === undefined ? {} : { link: `${page}/downloads/subscriptions` }),
    },
  });
  await context.jobs.enqueue(transaction, tell, { key, offer }, { key });
}
