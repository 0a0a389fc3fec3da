import * as m from '#messages/uptime-texts';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import type { Context } from '../../contracts/service.ts';
import type { StoredPage } from '../store/status-pages.ts';
import type { SubscriberMail } from './subscriber-mail.ts';

const seconds = 1000;

/** Message to the followers of a status page. */
export const messageFollowers = defineJob(
  'uptime.follow',
  z.object({
    key: z.string(),
    slug: z.string(),
    title: z.string(),
    message: z.string(),
    good: z.boolean(),
    topic: z.string().nullable(),
    tag: z.string().nullable(),
  }),
  { backoffMs: [1, 4, 16, 64, 300].map((wait) => wait * seconds), concurrency: 4 },
);

export interface PageMessageQueueDependencies {
  readonly context: Pick<Context, 'appPages' | 'inHostLanguage' | 'jobs'>;
  readonly publicUrl: () => string;
  readonly mail: SubscriberMail;
}

/** Public announcement of an event. */
export interface Announcement {
  readonly id: string;
  readonly words: string;
  readonly message: string;
  readonly good: boolean;
}

/** Queues the messages to the followers of status pages. `PageNotifier` hands them over. */
export class PageMessageQueue {
  readonly #dependencies: PageMessageQueueDependencies;

  constructor(dependencies: PageMessageQueueDependencies) {
    this.#dependencies = dependencies;
  }

  /** Announces a note within the transaction that stores it. */
  announceNote(
    transaction: Kysely<any>,
    page: StoredPage,
    note: { readonly id: number; readonly title: string; readonly content: string },
  ): Promise<void> {
    const { id, title, content } = note;
    return this.enqueue(transaction, page, { id: `note:${String(id)}`, words: title, message: content, good: false });
  }

  /** Announces an event to the followers of a page, if any. */
  async enqueue(transaction: Kysely<any>, page: StoredPage, announcement: Announcement): Promise<void> {
    if (!this.hasFollowers(page)) return;
    const { slug, title, pushTopic, notifyTag } = page.config;
    const key = `${announcement.id}:page:${String(page.id)}`;
    const { words, message, good } = announcement;
    // Followers get all announcements in the language of the host, also a note that was written on a page in another one.
    const { context } = this.#dependencies;
    const subject = await context.inHostLanguage(() => m.newsSubject({ page: title, text: words }));
    const addresses = {
      configured: this.#dependencies.publicUrl().replace(/\/$/, ''),
      fallback: this.getBaseUrl(page) ?? '',
    };
    await this.#dependencies.mail.enqueueNews(transaction, page, addresses, {
      key,
      subject,
      message: message || words,
    });
    if (pushTopic === null && notifyTag === null) return;
    await context.jobs.enqueue(
      transaction,
      messageFollowers,
      { key, slug, title: subject, message: message || words, good, topic: pushTopic, tag: notifyTag },
      { key, orderKey: `page:${String(page.id)}` },
    );
  }

  /** Returns the base URL of a page: the configured one, its domain name, or the address for other devices. */
  getBaseUrl(page: StoredPage | undefined): string | undefined {
    const [name] = page?.config.domainNameList ?? [];
    const serviceUrl =
      name === undefined ? this.#dependencies.context.appPages.serviceForMessages('uptime') : `https://${name}`;
    return (this.#dependencies.publicUrl() || serviceUrl)?.replace(/\/$/, '');
  }

  hasFollowers({ config }: StoredPage): boolean {
    const byMail = config.subscribable && this.#dependencies.mail.isConfigured;
    return config.published && (config.pushTopic !== null || config.notifyTag !== null || byMail);
  }
}
