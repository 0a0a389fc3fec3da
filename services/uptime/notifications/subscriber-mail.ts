import * as m from '#messages/uptime-texts';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import { notificationOffered } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { getLanguage, getLocale } from '../../../messages/language.ts';
import { runInLanguage } from '../../kit/language.ts';
import type { StoredPage } from '../store/status-pages.ts';
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
    /** Language of the texts; absent for mail in the language of the host. */
    language: z.object({ language: z.string(), locale: z.string() }).optional(),
  }),
  { backoffMs: [1, 4, 16, 64, 300].map((wait) => wait * seconds), concurrency: 4, timeoutMs: 60_000 },
);

export interface SubscriberMailDependencies {
  readonly context: Pick<Context, 'handovers' | 'inHostLanguage' | 'jobs' | 'log'>;
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
export interface PageAddresses {
  readonly configured: string;
  readonly fallback: string;
}

/** Sends mail to the subscribers of status pages through Delivery, with an unsubscribe link. */
export class SubscriberMail {
  readonly #dependencies: SubscriberMailDependencies;

  constructor(dependencies: SubscriberMailDependencies) {
    this.#dependencies = dependencies;
  }

  get isConfigured(): boolean {
    return this.#dependencies.mailAddress() !== '';
  }

  /**
   * Enqueues the confirmation mail in the language of the visitor.
   * @param base Base URL at which the visitor sees the page
   */
  async enqueueConfirmation(
    transaction: Kysely<any>,
    page: StoredPage,
    subscriber: Subscriber,
    base: string,
  ): Promise<void> {
    const key = `subscribe:${String(subscriber.id)}:${subscriber.token.slice(0, 8)}`;
    await this.#dependencies.context.jobs.enqueue(transaction, sendMail, {
      ...{ key, subscriber: subscriber.id, link: 'confirm', page: `${base}/status/${page.config.slug}` },
      subject: m.mailConfirmSubject({ page: page.config.title }),
      message: m.mailConfirmBody({ page: page.config.title }),
      language: { language: getLanguage(), locale: getLocale() },
    });
  }

  /** Enqueues mail to all subscribers within the transaction of the event. */
  async enqueueNews(
    transaction: Kysely<any>,
    page: StoredPage,
    addresses: PageAddresses,
    mail: PageMail,
  ): Promise<void> {
    if (!this.isConfigured || !page.config.subscribable) return;
    const jobs = this.#dependencies.subscribers.listConfirmed(page.id).map(({ id, base: seenAt }) => {
      const base = addresses.configured || seenAt || addresses.fallback;
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
    await this.#dependencies.context.jobs.enqueueAll(transaction, sendMail, jobs);
  }

  handle(): Disposable {
    const { context, subscribers } = this.#dependencies;
    const mailAddress = this.#dependencies.mailAddress();
    return context.jobs.handle(sendMail, async ({ id, payload }) => {
      const { subscriber, subject, message, link, page, language } = payload;
      const recipient = subscribers.find(subscriber);
      if (recipient === undefined || mailAddress === '') return;
      const actionUrl = `${page}/${link}?of=${String(recipient.id)}.${recipient.token}`;
      const composeFooter = (): string =>
        link === 'confirm'
          ? m.mailConfirmLink({ url: actionUrl })
          : `${page}\n\n${m.mailUnsubscribeLink({ url: actionUrl })}`;
      const footer = await (language === undefined
        ? context.inHostLanguage(composeFooter)
        : runInLanguage(language, composeFooter));
      try {
        await context.handovers.pass(notificationOffered, `uptime:${id}`, {
          configuration: 'aggregator',
          urls: [withRecipient(mailAddress, recipient.address)],
          notice: {
            title: subject,
            body: `${message}\n\n${footer}`,
            type: 'info',
            format: 'text',
            tags: [],
            source: 'uptime',
          },
        });
      } catch (error) {
        // Mail is dropped while Delivery is disabled.
        if (!(error instanceof Problem && error.code === 'handover.switched_off')) throw error;
        context.log.warn('subscriber mail dropped, Delivery is disabled');
      }
    });
  }
}

/** Adds a recipient to `mailto://user:password@host:port?from=…`. */
function withRecipient(address: string, recipient: string): string {
  const [, server = '', query = ''] = /^(mailtos?:\/\/[^/?#]+)[^?#]*(?:\?([^#]*))?/.exec(address) ?? [];
  const options = new URLSearchParams(query);
  for (const name of ['to', 'cc', 'bcc']) options.delete(name);
  options.set('format', 'text');
  return `${server}/${encodeURIComponent(recipient)}?${options.toString()}`;
}
