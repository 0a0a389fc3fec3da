import { z } from 'zod';
import { inboxOffered } from '../../../contracts/inbox/api.ts';
import { defineJob } from '../../../contracts/jobs.ts';
import { notificationOffered } from '../../../contracts/notify/notification.ts';
import { Problem } from '../../../contracts/problem.ts';
import type { Context } from '../../../contracts/service.ts';

/** Job that sends a mail. The payload is sealed, because links in these mails sign users in. */
const sendMail = defineJob('data.mail', z.object({ sealed: z.string() }), {
  concurrency: 2,
  timeoutMs: 60_000,
  // Links expire after that time.
  maxAgeMs: 3_600_000,
});

const Mail = z.object({ to: z.string(), subject: z.string(), body: z.string(), link: z.string().optional() });
type Mail = z.infer<typeof Mail>;

const purpose = 'data.mail';

type MailboxContext = Pick<Context, 'clock' | 'commit' | 'handovers' | 'jobs' | 'log' | 'vault'>;

/**
 * Sends sign-in mails. With a mail server they are delivered by the notify service; without one they appear in the
 * inbox of the operator, who can follow or forward the link.
 */
export class Mailbox {
  readonly #context: MailboxContext;
  /** Returns the notification URL for a mail address; undefined without a mail server. */
  readonly #destination: (to: string) => string | undefined;

  constructor(context: MailboxContext, destination: (to: string) => string | undefined) {
    this.#context = context;
    this.#destination = destination;
  }

  /** Enqueues a mail. Resolves when it is stored. */
  async send(mail: Mail): Promise<void> {
    const sealed = this.#context.vault.seal(JSON.stringify(mail), purpose);
    await this.#context.commit(async (transaction) => {
      await this.#context.jobs.enqueue(transaction, sendMail, { sealed });
    });
  }

  /** Starts sending; disposal stops it. */
  start(): Disposable {
    const { handovers, jobs, log, vault } = this.#context;
    return jobs.handle(sendMail, async ({ id, payload }) => {
      const mail = Mail.parse(JSON.parse(vault.open(payload.sealed, purpose)));
      const destination = this.#destination(mail.to);
      if (destination === undefined) return this.#toInbox(id, mail);
      try {
        await handovers.pass(notificationOffered, `data:${id}`, {
          configuration: 'aggregator',
          urls: [destination],
          notice: { title: mail.subject, body: mail.body, type: 'info', format: 'text', tags: [], source: 'data' },
        });
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'handover.switched_off') throw error;
        log.warn('sign-in mail redirected to the inbox: notifications are disabled');
        await this.#toInbox(id, mail);
      }
    });
  }

  async #toInbox(id: string, { to, subject, body, link }: Mail): Promise<void> {
    try {
      await this.#context.handovers.pass(inboxOffered, `data:${id}`, {
        title: `${subject} (${to})`,
        body,
        format: 'text',
        priority: 3,
        tags: [],
        source: 'data',
        topic: '',
        ...(link === undefined ? {} : { link }),
        time: this.#context.clock.now(),
      });
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'handover.switched_off') throw error;
      this.#context.log.warn('sign-in mail dropped: the inbox is disabled and there is no mail server');
    }
  }
}
