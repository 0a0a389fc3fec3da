import * as m from '#messages/downloads-texts';
import { readFile, stat } from 'node:fs/promises';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { getFailureCause, type Failure } from '../../contracts/downloads/causes.ts';
import { getDownloadName } from '../../contracts/downloads/download-name.ts';
import { defineJob } from '../../contracts/jobs.ts';
import { NotificationOffer, notificationOffered, type NotificationFile } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { findExtension } from '../../kit/file-type.ts';
import { toSafePart } from '../domain/template.ts';
import type { Item } from '../domain/item.ts';
import type { Settings } from '../settings.ts';
import { getPathPrefix, getPublicBases } from '../settings/public-paths.ts';
import { readBatch, type Batch } from '../store/batches.ts';
import { DownloadStore } from '../store/store.ts';
import type { Thumbnails } from '../files/thumbnails.ts';

/** Maximum size of an attached picture in bytes. */
const maxPictureBytes = 200 * 1024;

/** Hands the notification of a finished or failed download to the notify service. */
const notifyJob = defineJob(
  'downloads.tell',
  z.object({
    key: z.string(),
    offer: NotificationOffer,
    /** Uid of the download whose picture is attached. */
    picture: z.string().optional(),
  }),
);

/**
 * Enqueues notifications about downloads in the transaction that stores their result, so that a notification is sent
 * exactly when the result is stored.
 */
export class DownloadNotifier {
  readonly #context: Context;
  /** Path prefix of the service, which ends in a slash. */
  readonly #prefix: string;
  readonly #files: ReturnType<typeof getPublicBases>;

  constructor(context: Context, settings: Pick<Settings, 'urlPrefix' | 'publicUrl' | 'publicAudioUrl'>) {
    this.#context = context;
    this.#prefix = getPathPrefix(settings);
    this.#files = getPublicBases(settings);
  }

  /** Starts to deliver the enqueued notifications. */
  startDelivery(thumbnails: Pick<Thumbnails, 'get'>): Disposable {
    const { jobs, handovers, db, log } = this.#context;
    return jobs.handle(notifyJob, async ({ payload: { key, offer, picture } }) => {
      const files = picture === undefined ? [] : await readPicture(db, thumbnails, picture);
      try {
        await handovers.pass(notificationOffered, key, files.length === 0 ? offer : { ...offer, files });
      } catch (error) {
        // When notifications are disabled, this one is dropped.
        if (!(error instanceof Problem) || error.code !== 'handover.switched_off') throw error;
        log.debug('notification dropped, notifications are disabled', { key });
      }
    });
  }

  /** Reports an ended download. A batch is reported once, after its last download ended. */
  async downloadEnded(transaction: Kysely<any>, item: Item): Promise<void> {
    if (item.batch === null || item.batch === undefined) await this.#notifyDownload(transaction, item);
    else await this.#notifyBatch(transaction, item.batch);
  }

  /** Reports batches whose last open downloads were removed from the queue. */
  async removedFromQueue(transaction: Kysely<any>, removed: readonly Pick<Item, 'batch'>[]): Promise<void> {
    for (const batch of new Set(removed.flatMap((item) => item.batch ?? [])))
      await this.#notifyBatch(transaction, batch);
  }

  /** Reports a subscription that keeps failing, in the transaction that counts the failure. */
  async subscriptionFailing(
    transaction: Kysely<any>,
    feed: { readonly id: string; readonly name: string; readonly reason: Failure; readonly failedAt: number },
  ): Promise<void> {
    const text = await this.#context.inHostLanguage(() => ({
      title: m.subscriptionFailing(),
      body: `${feed.name}\n${getFailureCause(feed.reason).text}`,
    }));
    await this.#enqueue(transaction, `subscription:${feed.id}:${feed.failedAt}`, {
      ...text,
      type: 'warning',
      tags: ['downloads', 'subscription'],
      link: this.#getPageUrl('/subscriptions'),
    });
  }

  async #notifyBatch(transaction: Kysely<any>, id: string): Promise<void> {
    const batch = await readBatch(transaction, id);
    const { open, finished, failed, example } = batch;
    if (open > 0 || example === undefined) return;
    if (finished + failed === 1) return await this.#notifyDownload(transaction, example);
    const text = await this.#context.inHostLanguage(() => ({
      title: example.playlist?.title || m.playlist(),
      body: describeBatch(batch),
    }));
    await this.#enqueue(transaction, `downloads:${id}:${finished}:${failed}`, {
      ...text,
      type: failed === 0 ? 'success' : finished === 0 ? 'failure' : 'warning',
      tags: getTags(finished > 0),
      link: this.#getPageUrl(),
    });
  }

  async #notifyDownload(transaction: Kysely<any>, item: Item): Promise<void> {
    const finished = item.state === 'finished';
    // A retried download gets another notification.
    const key = `download:${item.uid}:${item.state}${item.attempts > 1 ? `:${item.attempts}` : ''}`;
    const content = {
      // The title is the name of the video: the inbox groups messages with the same title.
      title: getDownloadName(item),
      body: await this.#context.inHostLanguage(() =>
        finished ? m.finished() : m.failed({ reason: getFailureCause(toFailure(item)).text }),
      ),
      type: finished ? 'success' : 'failure',
      tags: getTags(finished),
      link: this.#getPageUrl(`?id=${item.uid}`) ?? this.#getFileUrl(item),
    } as const;
    await this.#enqueue(transaction, key, content, finished && item.thumbnail !== null ? item.uid : undefined);
  }

  async #enqueue(
    transaction: Kysely<any>,
    key: string,
    { link, ...notice }: NotificationContent,
    picture?: string,
  ): Promise<void> {
    const linkField = link === undefined ? {} : { link };
    const offer = NotificationOffer.parse({ notice: { ...notice, ...linkField, source: 'downloads' } });
    const pictureField = picture === undefined ? {} : { picture };
    await this.#context.jobs.enqueue(transaction, notifyJob, { key, offer, ...pictureField }, { key });
  }

  /** Links to the downloads page if it is reachable: it plays the download or shows a remedy. */
  #getPageUrl(path = ''): string | undefined {
    const page = this.#context.appPages.forMessages();
    return page === undefined ? undefined : `${page}/downloads${path}`;
  }

  #getFileUrl({ filename, order }: Item): string | undefined {
    const base = this.#context.appPages.serviceForMessages('downloads');
    if (base === undefined || filename === null) return undefined;
    const files = order.type === 'audio' ? this.#files.audio : this.#files.download;
    const path = filename.split('/').map(encodeURIComponent).join('/');
    // A path is relative to the service's address.
    return new URL(files + path, `${base}${this.#prefix}`).href;
  }
}

function toFailure({
  message,
  failure,
  failureParameters,
}: Pick<Item, 'message' | 'failure' | 'failureParameters'>): Failure {
  return { message, failure: failure ?? undefined, failureParameters: failureParameters ?? undefined };
}

interface NotificationContent {
  readonly title: string;
  readonly body: string;
  readonly type: 'success' | 'warning' | 'failure';
  readonly tags: readonly string[];
  /** Target of the notification. */
  readonly link: string | undefined;
}

function getTags(finished: boolean): readonly string[] {
  return ['downloads', finished ? 'download.finished' : 'download.failed'];
}

function describeBatch({ finished, failed }: Batch): string {
  if (finished === 0) return m.batchFailed({ failed });
  return failed === 0 ? m.batchFinished({ finished }) : m.batchPartlyFailed({ finished, failed });
}

/** Returns the stored picture of a download; empty when it is large or not available. */
async function readPicture(
  db: Kysely<any>,
  thumbnails: Pick<Thumbnails, 'get'>,
  uid: string,
): Promise<readonly NotificationFile[]> {
  const item = await new DownloadStore(db).find(uid);
  const picture = item === undefined ? undefined : await thumbnails.get(item);
  if (item === undefined || picture === undefined) return [];
  const { path, type } = picture;
  const { size } = await stat(path);
  if (size > maxPictureBytes) return [];
  return [{ name: `${toSafePart(item.title)}.${await findExtension(type)}`, type, bytes: await readFile(path) }];
}
