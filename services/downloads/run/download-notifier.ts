import { readFile, stat } from 'node:fs/promises';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { getFailureCause } from '../../contracts/downloads/causes.ts';
import { getDownloadName } from '../../contracts/downloads/download-name.ts';
import { defineJob } from '../../contracts/jobs.ts';
import { NotificationOffer, notificationOffered, type NotificationFile } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { safePart } from '../domain/template.ts';
import type { Item } from '../domain/item.ts';
import { prefixOf, publicBases, type Settings } from '../settings.ts';
import { readBatch, type Batch } from '../store/batches.ts';
import { DownloadStore } from '../store/store.ts';
import type { Thumbnails } from './thumbnails.ts';

/** Pictures go along up to this size, in bytes. */
const largestPicture = 200 * 1024;

/** Hands the news of a finished or failed download over to the aggregator. */
const tell = defineJob(
  'downloads.tell',
  z.object({
    key: z.string(),
    offer: NotificationOffer,
    /** The download whose picture goes along. */
    picture: z.string().optional(),
  }),
);

/** The news of what has ended. What they are told in is a transaction, so that they are told exactly when it is stored. */
export class Notices {
  readonly #context: Context;
  /** What the service's paths begin with; it ends in a slash. */
  readonly #prefix: string;
  readonly #files: ReturnType<typeof publicBases>;

  constructor(context: Context, settings: Pick<Settings, 'urlPrefix' | 'publicUrl' | 'publicAudioUrl'>) {
    this.#context = context;
    this.#prefix = prefixOf(settings);
    this.#files = publicBases(settings);
  }

  /** Hands over what was told, from now on. */
  handle(thumbnails: Pick<Thumbnails, 'of'>): Disposable {
    const { jobs, handovers, db, log } = this.#context;
    return jobs.handle(tell, async ({ payload: { key, offer, picture } }) => {
      const files = picture === undefined ? [] : await pictureFile(db, thumbnails, picture);
      try {
        await handovers.pass(notificationOffered, key, files.length === 0 ? offer : { ...offer, files });
      } catch (error) {
        // Who has switched notifications off wants none, and none of these later.
        if (!(error instanceof Problem) || error.code !== 'handover.switched_off') throw error;
        log.debug('nobody is told: notifications are switched off', { key });
      }
    });
  }

  /** A download has ended. What came together is told of together, when the last of it has ended. */
  async ended(transaction: Kysely<any>, item: Item): Promise<void> {
    if (item.batch === null || item.batch === undefined) await this.#tellOne(transaction, item);
    else await this.#tellBatch(transaction, item.batch);
  }

  /** Open downloads are gone from the queue: the rest of what they came with may be all that was waited for. */
  async left(transaction: Kysely<any>, gone: readonly Pick<Item, 'batch'>[]): Promise<void> {
    for (const batch of new Set(gone.flatMap((item) => item.batch ?? []))) await this.#tellBatch(transaction, batch);
  }

  /** A subscription keeps failing; part of the transaction that counts the failure. */
  async failing(
    transaction: Kysely<any>,
    feed: { readonly id: string; readonly name: string; readonly reason: string; readonly at: number },
  ): Promise<void> {
    await this.#offer(transaction, `subscription:${feed.id}:${feed.at}`, {
      title: 'A subscription keeps failing',
      body: `${feed.name}\n${feed.reason}`,
      type: 'warning',
      tags: ['downloads', 'subscription'],
      link: this.#page('/subscriptions'),
    });
  }

  async #tellBatch(transaction: Kysely<any>, id: string): Promise<void> {
    const batch = await readBatch(transaction, id);
    const { open, finished, failed, example } = batch;
    if (open > 0 || example === undefined) return;
    if (finished + failed === 1) return await this.#tellOne(transaction, example);
    await this.#offer(transaction, `downloads:${id}:${finished}:${failed}`, {
      title: example.playlist?.title || 'Playlist',
      body: `${finished === 0 ? 'Downloads failed' : 'Downloads finished'}: ${countsOf(batch)}`,
      type: failed === 0 ? 'success' : finished === 0 ? 'failure' : 'warning',
      tags: tagsOf(finished > 0),
      link: this.#page(),
    });
  }

  async #tellOne(transaction: Kysely<any>, item: Item): Promise<void> {
    const finished = item.state === 'finished';
    // A download that was retried has news again.
    const key = `download:${item.uid}:${item.state}${item.attempts > 1 ? `:${item.attempts}` : ''}`;
    const notice = {
      // The video's name: what has one title stands in one row of the inbox, which would hide the others.
      title: getDownloadName(item),
      body: finished ? 'Download finished' : `Download failed: ${getFailureCause(item.message).text}`,
      type: finished ? 'success' : 'failure',
      tags: tagsOf(finished),
      link: this.#page(`?id=${item.uid}`) ?? this.#fileOf(item),
    } as const;
    await this.#offer(transaction, key, notice, finished && item.thumbnail !== null ? item.uid : undefined);
  }

  async #offer(transaction: Kysely<any>, key: string, { link, ...notice }: News, picture?: string): Promise<void> {
    const linked = link === undefined ? {} : { link };
    const offer = NotificationOffer.parse({ notice: { ...notice, ...linked, source: 'downloads' } });
    const pictured = picture === undefined ? {} : { picture };
    await this.#context.jobs.enqueue(transaction, tell, { key, offer, ...pictured }, { key });
  }

  /** On the page of the downloads, where there is one: a download plays there, or says what to do. */
  #page(at = ''): string | undefined {
    const page = this.#context.appPages.forMessages();
    return page === undefined ? undefined : `${page}/downloads${at}`;
  }

  #fileOf({ filename, order }: Item): string | undefined {
    const base = this.#context.appPages.serviceForMessages('downloads');
    if (base === undefined || filename === null) return undefined;
    const files = order.type === 'audio' ? this.#files.audio : this.#files.download;
    const path = filename.split('/').map(encodeURIComponent).join('/');
    // A path is one below the service's own.
    return new URL(files + path, `${base}${this.#prefix}`).href;
  }
}

interface News {
  readonly title: string;
  readonly body: string;
  readonly type: 'success' | 'warning' | 'failure';
  readonly tags: readonly string[];
  /** Where a press on it leads. */
  readonly link: string | undefined;
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
): Promise<readonly NotificationFile[]> {
  const item = await new DownloadStore(db).find(uid);
  const picture = item === undefined ? undefined : await thumbnails.of(item);
  if (item === undefined || picture === undefined) return [];
  const { path, type } = picture;
  const { size } = await stat(path);
  if (size > largestPicture) return [];
  const ending = type === 'image/jpeg' ? 'jpg' : type.replace('image/', '');
  return [{ name: `${safePart(item.title)}.${ending}`, type, bytes: await readFile(path) }];
}
