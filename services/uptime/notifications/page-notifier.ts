import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import { notificationOffered } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import { pushOffered } from '../../contracts/push/topics.ts';
import type { Context } from '../../contracts/service.ts';
import { formatDuration } from '../domain/time-format.ts';
import type { SubscriberMail } from './subscriber-mail.ts';
import type { StoredPage } from '../store/status-pages.ts';

const seconds = 1000;

/** Message to the followers of a status page. */
const follow = defineJob(
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

export interface PageNotifierDependencies {
  readonly context: Pick<Context, 'appPages' | 'commit' | 'handovers' | 'jobs'>;
  readonly pages: () => readonly StoredPage[];
  /** Returns the pages that list a maintenance window. */
  readonly findPagesOfWindow: (window: number) => readonly number[];
  readonly publicUrl: () => string;
  readonly mail: SubscriberMail;
}

/** Public announcement of an event. */
interface Announcement {
  readonly id: string;
  readonly words: string;
  readonly message: string;
  readonly good: boolean;
}

/** Notifies the followers of status pages over push topics, destinations of Delivery, and mail. */
export class PageNotifier {
  readonly #dependencies: PageNotifierDependencies;

  constructor(dependencies: PageNotifierDependencies) {
    this.#dependencies = dependencies;
  }

  /** Announces an event to the followers of the affected pages, without its cause and target. */
  async handleEvent(
    event: Readonly<Record<string, unknown>> & { readonly id: string; readonly kind: string },
  ): Promise<void> {
    const announcement = toAnnouncement(event);
    if (announcement === undefined) return;
    const monitor = event['monitorId'];
    const windowPages =
      event['maintenanceId'] === undefined ? [] : this.#dependencies.findPagesOfWindow(Number(event['maintenanceId']));
    const pages = this.#dependencies
      .pages()
      .filter(
        ({ id, groups }) =>
          windowPages.includes(id) ||
          groups.some(({ monitorList }) => monitorList.some((entry) => entry.id === monitor)),
      );
    if (!pages.some((page) => this.#hasFollowers(page))) return;
    await this.#dependencies.context.commit(async (transaction) => {
      for (const page of pages) await this.#enqueue(transaction, page, announcement);
    });
  }

  /** Announces a note within the transaction that stores it. */
  announceNote(
    transaction: Kysely<any>,
    page: StoredPage,
    note: { readonly id: number; readonly title: string; readonly content: string },
  ): Promise<void> {
    const { id, title, content } = note;
    return this.#enqueue(transaction, page, { id: `note:${String(id)}`, words: title, message: content, good: false });
  }

  handle(): Disposable {
    const { context } = this.#dependencies;
    return context.jobs.handle(follow, async ({ payload }) => {
      const { key, slug, title, message, good: isGood, topic, tag } = payload;
      const link = this.#getLink(slug);
      const source = 'uptime';
      if (topic !== null) {
        await ignoreDisabledService(
          context.handovers.pass(pushOffered, `${key}:push`, {
            ...{ topic, title, message, source, markdown: false, origin: key },
            tags: [isGood ? 'white_check_mark' : 'warning'],
            ...(link === undefined ? {} : { click: link }),
          }),
        );
      }
      if (tag !== null) {
        await ignoreDisabledService(
          context.handovers.pass(notificationOffered, key, {
            ...{ configuration: 'aggregator', tag },
            notice: {
              ...{ title, body: message, format: 'text', tags: ['uptime', 'uptime.status-page'], source },
              type: isGood ? 'success' : 'info',
              ...(link === undefined ? {} : { link }),
            },
          }),
        );
      }
    });
  }

  async #enqueue(transaction: Kysely<any>, page: StoredPage, announcement: Announcement): Promise<void> {
    if (!this.#hasFollowers(page)) return;
    const { slug, title, pushTopic, notifyTag } = page.config;
    const key = `${announcement.id}:page:${String(page.id)}`;
    const { words, message, good } = announcement;
    const addresses = {
      configured: this.#dependencies.publicUrl().replace(/\/$/, ''),
      fallback: this.#getBaseUrl(page) ?? '',
    };
    await this.#dependencies.mail.enqueueNews(transaction, page, addresses, {
      key,
      subject: `${title}: ${words}`,
      message: message || words,
    });
    if (pushTopic === null && notifyTag === null) return;
    await this.#dependencies.context.jobs.enqueue(
      transaction,
      follow,
      { key, slug, title: `${title}: ${words}`, message: message || words, good, topic: pushTopic, tag: notifyTag },
      { key, orderKey: `page:${String(page.id)}` },
    );
  }

  #getLink(slug: string): string | undefined {
    const base = this.#getBaseUrl(this.#dependencies.pages().find(({ config }) => config.slug === slug));
    return base === undefined ? undefined : `${base}/status/${slug}`;
  }

  /** Returns the base URL of a page: the configured one, its domain name, or the address for other devices. */
  #getBaseUrl(page: StoredPage | undefined): string | undefined {
    const [name] = page?.config.domainNameList ?? [];
    const serviceUrl =
      name === undefined ? this.#dependencies.context.appPages.serviceForMessages('uptime') : `https://${name}`;
    return (this.#dependencies.publicUrl() || serviceUrl)?.replace(/\/$/, '');
  }

  #hasFollowers({ config }: StoredPage): boolean {
    const byMail = config.subscribable && this.#dependencies.mail.isConfigured;
    return config.published && (config.pushTopic !== null || config.notifyTag !== null || byMail);
  }
}

/** Ignores handovers to a disabled service. */
async function ignoreDisabledService(passing: Promise<void>): Promise<void> {
  try {
    await passing;
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'handover.switched_off')) throw error;
  }
}

function toAnnouncement(
  event: Readonly<Record<string, unknown>> & { readonly id: string; readonly kind: string },
): Announcement | undefined {
  const { id, kind } = event;
  const text = (field: string): string => (typeof event[field] === 'string' ? event[field] : '');
  const name = text('monitorName');
  if (event['repeat'] !== undefined || event['flapping'] !== undefined) return undefined;
  const until = text('endsAt') === '' ? '' : ` until ${formatMinute(text('endsAt'))}`;
  const title = text('maintenanceTitle');
  switch (kind) {
    case 'down':
      return { id, words: `${name} is down`, message: `Since ${formatMinute(text('at'))}.`, good: false };
    case 'up': {
      const length = formatDuration(Number(event['downSeconds'] ?? 0) * seconds);
      return { id, words: `${name} is up again`, message: `It was down for ${length}.`, good: true };
    }
    case 'maintenance_reminder':
      return {
        id,
        words: `Maintenance: ${title}`,
        message: `From ${formatMinute(text('startsAt'))}${until}.`,
        good: false,
      };
    case 'maintenance_started':
      return {
        id,
        words: `Maintenance has started: ${title}`,
        message: `It lasts${until || ' until it is done'}.`,
        good: false,
      };
    case 'maintenance_ended':
      return { id, words: `Maintenance has ended: ${title}`, message: '', good: true };
    default:
      return undefined;
  }
}

function formatMinute(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}
