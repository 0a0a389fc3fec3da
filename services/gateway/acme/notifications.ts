import * as m from '#messages/gateway-certificates';
import { z } from 'zod';
import { defineDateFormat } from '../../../messages/format.ts';
import { inboxOffered } from '../../contracts/inbox/api.ts';
import { defineJob } from '../../contracts/jobs.ts';
import { NotificationOffer, notificationOffered } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { formatFailure } from './failure.ts';

/** Occasion of a notification: the end is near, a renewal failed, or the owner has to create a record. */
export type Occasion = 'expires' | 'failed' | 'record';

const Notice = z.object({
  occasion: z.enum(['expires', 'failed', 'record']),
  domain: z.string(),
  expiresAt: z.number(),
  failure: z.object({ code: z.string(), values: z.record(z.string(), z.string()) }).optional(),
});
type Notice = z.infer<typeof Notice>;

const notificationJob = defineJob('gateway.certificate-notice', Notice);
const formatDate = defineDateFormat({ dateStyle: 'long' });

/** Sends one notification for each occasion. */
export class CertificateNotifications {
  readonly #context: Context;
  /** Keys of this process, so that a lasting occasion is not enqueued with each check. */
  readonly #sent = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** @param cause Distinguishes occasions, such as the end of a certificate or the start of an order */
  async send(notice: Notice, cause: number): Promise<void> {
    const key = `gateway:certificate:${notice.occasion}:${String(cause)}`;
    if (this.#sent.has(key)) return;
    await this.#context.commit((db) => this.#context.jobs.enqueue(db, notificationJob, notice, { key }));
    this.#sent.add(key);
  }

  /** Delivers enqueued notifications until the disposal. */
  handle(): Disposable {
    const { jobs } = this.#context;
    return jobs.handle(notificationJob, ({ key = '', payload }) => this.#deliver(key, payload));
  }

  async #deliver(key: string, notice: Notice): Promise<void> {
    const { appPages, clock, handovers, inHostLanguage } = this.#context;
    const text = await inHostLanguage(() => compose(notice));
    const page = appPages.forMessages();
    const link = page === undefined ? {} : { link: `${page}/network/certificate` };
    const type = notice.occasion === 'record' ? 'warning' : 'failure';
    const content = { ...text, ...link, tags: ['gateway'], source: 'gateway' };
    try {
      await handovers.pass(notificationOffered, key, NotificationOffer.parse({ notice: { ...content, type } }));
    } catch (error) {
      // Without notifications, the message goes directly to the inbox.
      if (!(error instanceof Problem) || error.code !== 'handover.switched_off') throw error;
      const offer = { ...content, format: 'text', priority: 4, topic: '', time: clock.now() } as const;
      await handovers.pass(inboxOffered, key, offer);
    }
  }
}

function compose({ occasion, domain, expiresAt, failure }: Notice): { readonly title: string; readonly body: string } {
  const date = formatDate(expiresAt);
  const reason = failure === undefined ? '' : formatFailure(failure.code, failure.values);
  switch (occasion) {
    case 'expires':
      return { title: m.noticeExpiresTitle({ domain, date }), body: reason === '' ? m.noticeExpires() : reason };
    case 'failed':
      return {
        title: m.noticeFailedTitle({ domain }),
        body: expiresAt === 0 ? reason : m.noticeFailedRenewal({ reason, date }),
      };
    case 'record':
      return { title: m.noticeRecordTitle({ domain }), body: m.noticeRecord() };
  }
}
