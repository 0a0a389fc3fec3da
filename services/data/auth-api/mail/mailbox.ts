import { z } from 'zod';
import { inboxOffered } from '../../../contracts/inbox/api.ts';
import { defineJob } from '../../../contracts/jobs.ts';
import { notificationOffered } from '../../../contracts/notify/notification.ts';
import { Problem } from '../../../contracts/problem.ts';
import type { Context } from '../../../contracts/service.ts';

/** Sealed, since the links of these mails sign people in. */
const sendMail = defineJob('data.mail', z.object({ sealed: z.string() }), {
  concurrency: 2,
  timeoutMs: 60_000,
  // Its link is of no use after that.
  maxAgeMs: 3_600_000,
});

const Mail = z.object({ to: z.string(), subject: z.string(), body: z.string(), link: z.string().optional() });
type Mail = z.infer<typeof Mail>;

const purpose = 'data.mail';

type Given = Pick<Context, 'clock' | 'commit' | 'handovers' | 'jobs' | 'log' | 'vault'>;

/**
 * Mails of sign-in. With a mail server they go to the person through the aggregator; without one they wait in the inbox of
 * whoever runs this, who can follow the link or pass it on.
 */
export class Mailbox {
  readonly #context: Given;
  /** The aggregator's address for mail to somebody; undefined without a mail server. */
  readonly #destination: (to: string) => string | undefined;

  constructor(context: Given, destination: (to: string) => string | undefined) {
    this.#context = context;
    this.#destination = destination;
  }

  /** Resolves once it cannot be lost any more. */
  async send(mail: Mail): Promise<void> {
    const sealed = this.#context.vault.seal(JSON.stringify(mail), purpose);
    await this.#context.commit(async (transaction) => {
      await this.#context.jobs.enqueue(transaction, sendMail, { sealed });
    });
  }

  /** Begins to send; the disposal stops taking new ones. */
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
        log.warn('notifications are switched off, so a mail of sign-in goes to the inbox');
        await this.#toInbox(id, mail);
      }
    });
  }

  async #toInbox(id: string, { to, subject, body, link }: Mail): Promise<void> {
    try {
      await this.#context.handovers.pass(inboxOffered, `data:${id}`, {
        ...{ title: `${subject} (${to})`, body, format: 'text', priority: 3, tags: [], source: 'data', topic: '' },
        ...(link === undefined ? {} : { link }),
        time: this.#context.clock.now(),
      });
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'handover.switched_off') throw error;
      this.#context.log.warn(
        'a mail of sign-in has nowhere to go: the inbox is switched off and there is no mail server',
      );
    }
  }
}
