import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import { notificationOffered } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { KnownPage } from '../store/status-pages.ts';
import type { Subscriber, Subscribers } from './subscribers.ts';

const seconds = 1000;

/** Mail to a subscriber. The payload has the ID instead of the address, so that a removed subscriber gets no mail. */
const sendMail = defineJob(
  'uptime.subscriber_mail',
  z.object({
    key: z.string(),
    subscriber: z.int(),
    subject: z.string(),
    message: z.string(),
    link: z.enum(['confirm', 'unsubscribe']),
    page: z.string(),
  }),
  { backoffMs: [1, 4, 16, 64, 300].map((wait) => wait * seconds), concurrency: 4, timeoutMs: 60_000 },
);

export interface SubscriberMailParts {
  readonly context: Pick<Context, 'jobs' | 'handovers' | 'log'>;
  readonly subscribers: Subscribers;
  /** Delivery URL of the mail server without a recipient; empty when mail is disabled. Contains a password. */
  readonly mailAddress: () => string;
}

/** Mail to all subscribers of a page. */
export interface PageMail {
  readonly key: string;
  readonly subject: string;
  readonly message: string;
}

/**
 * Base URLs of a page: the configured one, and a fallback when neither that nor the URL of the subscription is known.
 */
export interface PagePlaces {
  readonly set: string;
  readonly usual: string;
}

/** Sends mail to the subscribers of status pages through Delivery, with an unsubscribe link. */
export class SubscriberMail {
  readonly #parts: SubscriberMailParts;

  constructor(parts: SubscriberMailParts) {
    this.#parts = parts;
  }

  get isSet(): boolean {
    return this.#parts.mailAddress() !== '';
  }

  /**
   * Enqueues the confirmation mail.
   * @param base Base URL at which the visitor sees the page
   */
  async ask(transaction: Kysely<any>, page: KnownPage, subscriber: Subscriber, base: string): Promise<void> {
    const key = `subscribe:${String(subscriber.id)}:${subscriber.token.slice(0, 8)}`;
    await this.#parts.context.jobs.enqueue(transaction, sendMail, {
      ...{ key, subscriber: subscriber.id, link: 'confirm', page: `${base}/status/${page.config.slug}` },
      subject: `Confirm: news of ${page.config.title}`,
      message: `Somebody, we hope you, wants news of “${page.config.title}” sent to this address. If it was not you, do nothing.`,
    });
  }

  /** Enqueues mail to all subscribers within the transaction of the event. */
  async tell(transaction: Kysely<any>, page: KnownPage, where: PagePlaces, mail: PageMail): Promise<void> {
    if (!this.isSet || !page.config.subscribable) return;
    const jobs = this.#parts.subscribers.confirmedOf(page.id).map(({ id, base: seenAt }) => {
      const base = where.set || seenAt || where.usual;
      const key = `${mail.key}:to:${String(id)}`;
      const payload = {
        ...mail,
        key,
        subscriber: id,
        link: 'unsubscribe' as const,
        page: `${base}/status/${page.config.slug}`,
      };
      return { payload, key, orderKey: `subscriber:${String(id)}` };
    });
    await this.#parts.context.jobs.enqueueAll(transaction, sendMail, jobs);
  }

  handle(): Disposable {
    const { context, subscribers } = this.#parts;
    const mailAddress = this.#parts.mailAddress();
    return context.jobs.handle(sendMail, async ({ id, payload: { subscriber, subject, message, link, page } }) => {
      const known = subscribers.find(subscriber);
      if (known === undefined || mailAddress === '') return;
      const way = `${page}/${link}?of=${String(known.id)}.${known.token}`;
      const last = link === 'confirm' ? `To confirm: ${way}` : `${page}\n\nNo more of these: ${way}`;
      try {
        await context.handovers.pass(notificationOffered, `uptime:${id}`, {
          configuration: 'aggregator',
          urls: [mailTo(mailAddress, known.address)],
          notice: {
            title: subject,
            body: `${message}\n\n${last}`,
            type: 'info',
            format: 'text',
            tags: [],
            source: 'uptime',
          },
        });
      } catch (error) {
        // Mail is dropped while Delivery is disabled.
        if (!(error instanceof Problem && error.code === 'handover.switched_off')) throw error;
        context.log.warn('Delivery is switched off, so subscribers of status pages get no mail');
      }
    });
  }
}

/** Adds a recipient to `mailto://user:password@host:port?from=…`. */
function mailTo(address: string, recipient: string): string {
  const [, place = '', query = ''] = /^(mailtos?:\/\/[^/?#]+)[^?#]*(?:\?([^#]*))?/.exec(address) ?? [];
  const options = new URLSearchParams(query);
  for (const name of ['to', 'cc', 'bcc']) options.delete(name);
  options.set('format', 'text');
  return `${place}/${encodeURIComponent(recipient)}?${options.toString()}`;
}
