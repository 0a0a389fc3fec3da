import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import { notificationOffered } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import { pushOffered } from '../../contracts/push/topics.ts';
import type { Context } from '../../contracts/service.ts';
import { durationWords } from '../domain/time-format.ts';
import type { SubscriberMail } from './subscriber-mail.ts';
import type { KnownPage } from '../store/status-pages.ts';

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

export interface FollowersParts {
  readonly context: Pick<Context, 'appPages' | 'commit' | 'handovers' | 'jobs'>;
  readonly pages: () => readonly KnownPage[];
  /** Returns the pages that list a maintenance window. */
  readonly pagesOfWindow: (window: number) => readonly number[];
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
export class Followers {
  readonly #parts: FollowersParts;

  constructor(parts: FollowersParts) {
    this.#parts = parts;
  }

  /** Announces an event to the followers of the affected pages, without its cause and target. */
  async take(event: Readonly<Record<string, unknown>> & { readonly id: string; readonly kind: string }): Promise<void> {
    const announcement = announcementOf(event);
    if (announcement === undefined) return;
    const monitor = event['monitorId'];
    const windowPages =
      event['maintenanceId'] === undefined ? [] : this.#parts.pagesOfWindow(Number(event['maintenanceId']));
    const pages = this.#parts
      .pages()
      .filter(
        ({ id, groups }) =>
          windowPages.includes(id) ||
          groups.some(({ monitorList }) => monitorList.some((shown) => shown.id === monitor)),
      );
    if (!pages.some((page) => this.#isFollowed(page))) return;
    await this.#parts.context.commit(async (transaction) => {
      for (const page of pages) await this.#enqueue(transaction, page, announcement);
    });
  }

  /** Announces a note within the transaction that stores it. */
  note(
    transaction: Kysely<any>,
    page: KnownPage,
    note: { readonly id: number; readonly title: string; readonly content: string },
  ): Promise<void> {
    const { id, title, content } = note;
    return this.#enqueue(transaction, page, { id: `note:${String(id)}`, words: title, message: content, good: false });
  }

  handle(): Disposable {
    const { context } = this.#parts;
    return context.jobs.handle(follow, async ({ payload }) => {
      const { key, slug, title, message, good, topic, tag } = payload;
      const link = this.#link(slug);
      const source = 'uptime';
      if (topic !== null) {
        await orNone(
          context.handovers.pass(pushOffered, `${key}:push`, {
            ...{ topic, title, message, source, markdown: false, origin: key },
            tags: [good ? 'white_check_mark' : 'warning'],
            ...(link === undefined ? {} : { click: link }),
          }),
        );
      }
      if (tag !== null) {
        await orNone(
          context.handovers.pass(notificationOffered, key, {
            ...{ configuration: 'aggregator', tag },
            notice: {
              ...{ title, body: message, format: 'text', tags: ['uptime', 'uptime.status-page'], source },
              type: good ? 'success' : 'info',
              ...(link === undefined ? {} : { link }),
            },
          }),
        );
      }
    });
  }

  async #enqueue(transaction: Kysely<any>, page: KnownPage, announcement: Announcement): Promise<void> {
    if (!this.#isFollowed(page)) return;
    const { slug, title, pushTopic, notifyTag } = page.config;
    const key = `${announcement.id}:page:${String(page.id)}`;
    const { words, message, good } = announcement;
    const where = { set: this.#parts.publicUrl().replace(/\/$/, ''), usual: this.#base(page) ?? '' };
    await this.#parts.mail.tell(transaction, page, where, {
      key,
      subject: `${title}: ${words}`,
      message: message || words,
    });
    if (pushTopic === null && notifyTag === null) return;
    await this.#parts.context.jobs.enqueue(
      transaction,
      follow,
      { key, slug, title: `${title}: ${words}`, message: message || words, good, topic: pushTopic, tag: notifyTag },
      { key, orderKey: `page:${String(page.id)}` },
    );
  }

  #link(slug: string): string | undefined {
    const base = this.#base(this.#parts.pages().find(({ config }) => config.slug === slug));
    return base === undefined ? undefined : `${base}/status/${slug}`;
  }

  /** Returns the base URL of a page: the configured one, its domain name, or the address for other devices. */
  #base(page: KnownPage | undefined): string | undefined {
    const [name] = page?.config.domainNameList ?? [];
    const own = name === undefined ? this.#parts.context.appPages.serviceForMessages('uptime') : `https://${name}`;
    return (this.#parts.publicUrl() || own)?.replace(/\/$/, '');
  }

  #isFollowed({ config }: KnownPage): boolean {
    const byMail = config.subscribable && this.#parts.mail.isSet;
    return config.published && (config.pushTopic !== null || config.notifyTag !== null || byMail);
  }
}

/** Ignores handovers to a disabled service. */
async function orNone(passing: Promise<void>): Promise<void> {
  try {
    await passing;
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'handover.switched_off')) throw error;
  }
}

function announcementOf(
  event: Readonly<Record<string, unknown>> & { readonly id: string; readonly kind: string },
): Announcement | undefined {
  const { id, kind } = event;
  const text = (field: string): string => (typeof event[field] === 'string' ? event[field] : '');
  const name = text('monitorName');
  if (event['repeat'] !== undefined || event['flapping'] !== undefined) return undefined;
  const until = text('endsAt') === '' ? '' : ` until ${minute(text('endsAt'))}`;
  const title = text('maintenanceTitle');
  switch (kind) {
    case 'down':
      return { id, words: `${name} is down`, message: `Since ${minute(text('at'))}.`, good: false };
    case 'up': {
      const length = durationWords(Number(event['downSeconds'] ?? 0) * seconds);
      return { id, words: `${name} is up again`, message: `It was down for ${length}.`, good: true };
    }
    case 'maintenance_reminder':
      return { id, words: `Maintenance: ${title}`, message: `From ${minute(text('startsAt'))}${until}.`, good: false };
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

function minute(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}
