import { readFile, stat } from 'node:fs/promises';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineJob } from '../contracts/jobs.ts';
import { NoticeOffer, noticeOffered, type NoticeFile } from '../contracts/notice.ts';
import type { Context } from '../contracts/service.ts';
import { safePart } from './domain/template.ts';
import type { Item } from './domain/item.ts';
import { batchesOf, readBatch, type Batch } from './store/batches.ts';
import { DownloadStore } from './store/store.ts';
import type { Thumbnails } from './thumbnails.ts';

/** Pictures go along up to this size, in bytes. */
const largestPicture = 200 * 1024;

/** Hands the news of a finished or failed download over to the aggregator. */
const tell = defineJob(
  'downloads.tell',
  z.object({
    key: z.string(),
    offer: NoticeOffer,
    /** The download whose picture goes along. */
    picture: z.string().optional(),
  }),
);

export function handleNotices({ jobs, handovers, db }: Context, thumbnails: Pick<Thumbnails, 'of'>): Disposable {
  return jobs.handle(tell, async ({ payload: { key, offer, picture } }) => {
    const files = picture === undefined ? [] : await pictureFile(db, thumbnails, picture);
    await handovers.pass(noticeOffered, key, files.length === 0 ? offer : { ...offer, files });
  });
}

/**
 * Tells of a download that has ended: part of that transaction, so that the news is told exactly when the state is
 * stored. The videos of a playlist are told of together, when the last of them has ended. `prefix` is what the service's
 * paths begin with; it ends in a slash.
 */
export async function enqueueNotice(
  context: Context,
  transaction: Kysely<any>,
  item: Item,
  prefix = '/',
): Promise<void> {
  const [batch] = await batchesOf(transaction, [item.uid]);
  if (batch === undefined) return await tellOne(context, transaction, item, prefix);
  await tellBatch(context, transaction, batch, prefix);
}

/** Tells of a playlist whose last open videos were cancelled. Part of that transaction. */
export async function tellBatch(context: Context, transaction: Kysely<any>, id: string, prefix = '/'): Promise<void> {
  const batch = await readBatch(transaction, id);
  const { open, finished, failed, example } = batch;
  if (open > 0 || example === undefined) return;
  if (finished + failed === 1) return await tellOne(context, transaction, example, prefix);
  const key = `downloads:${id}:${finished}:${failed}`;
  const page = context.address('control');
  const offer = NoticeOffer.parse({
    notice: {
      title: finished === 0 ? 'Playlist failed' : 'Playlist finished',
      body: `${example.playlist?.title || 'Playlist'}\n${countsOf(batch)}`,
      type: failed === 0 ? 'success' : finished === 0 ? 'failure' : 'warning',
      tags: tagsOf(finished > 0),
      source: 'downloads',
      ...(page === undefined ? {} : { link: `${page}/downloads` }),
    },
  });
  await context.jobs.enqueue(transaction, tell, { key, offer }, { key });
}

async function tellOne(context: Context, transaction: Kysely<any>, item: Item, prefix: string): Promise<void> {
  const finished = item.state === 'finished';
  const link = linkOf(context, item, prefix);
  // A download that was retried has news again.
  const key = `download:${item.uid}:${item.state}${item.attempts > 1 ? `:${item.attempts}` : ''}`;
  const offer = NoticeOffer.parse({
    notice: {
      title: finished ? 'Download finished' : 'Download failed',
      body: finished || item.message === null ? item.title : `${item.title}\n${item.message}`,
      type: finished ? 'success' : 'failure',
      tags: tagsOf(finished),
      source: 'downloads',
      ...(link === undefined ? {} : { link }),
    },
  });
  const picture = finished && item.thumbnail !== null ? { picture: item.uid } : {};
  await context.jobs.enqueue(transaction, tell, { key, offer, ...picture }, { key });
}

/** Where a press on the news leads: to the download on its page, where it plays or says what to do; else to its file. */
function linkOf(context: Context, { uid, filename, order }: Item, prefix: string): string | undefined {
  const page = context.address('control');
  if (page !== undefined) return `${page}/downloads?id=${uid}`;
  const base = context.address('downloads');
  if (base === undefined || filename === null) return undefined;
  const files = `${prefix}${order.type === 'audio' ? 'audio_download' : 'download'}`;
  return `${base}${files}/${filename.split('/').map(encodeURIComponent).join('/')}`;
}

function tagsOf(finished: boolean): readonly string[] {
  return ['downloads', finished ? 'download.finished' : 'download.failed'];
}

function countsOf({ finished, failed }: Batch): string {
  const videos = `${finished} ${finished === 1 ? 'video' : 'videos'}`;
  return failed === 0 ? videos : `${videos}, ${failed} failed`;
}

/** The picture as it is kept for the pages; none when it is large, or is not to be had now. */
async function pictureFile(
  db: Kysely<any>,
  thumbnails: Pick<Thumbnails, 'of'>,
  uid: string,
): Promise<readonly NoticeFile[]> {
  const item = await new DownloadStore(db).find(uid);
  const picture = item === undefined ? undefined : await thumbnails.of(item);
  if (item === undefined || picture === undefined) return [];
  const { path, type } = picture;
  const { size } = await stat(path);
  if (size > largestPicture) return [];
  const ending = type === 'image/jpeg' ? 'jpg' : type.replace('image/', '');
  return [{ name: `${safePart(item.title)}.${ending}`, type, bytes: await readFile(path) }];
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
