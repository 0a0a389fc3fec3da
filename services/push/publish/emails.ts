import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import { notificationOffered } from '../../contracts/notify/notification.ts';
import type { Context } from '../../contracts/service.ts';
import type { EmailSettings } from '../settings/email.ts';
import type { AlsoStore } from './write-messages.ts';

/** Has a message sent as mail. It waits for a mail server that is away, for a day. */
const sendEmail = defineJob(
  'push.email',
  z.object({ id: z.string(), topic: z.string(), to: z.string(), subject: z.string(), body: z.string() }),
  { concurrency: 4, timeoutMs: 60_000 },
);

interface Parts {
  readonly context: Pick<Context, 'jobs' | 'handovers' | 'address'>;
  readonly settings: EmailSettings;
  readonly baseUrl: () => string | undefined;
}

/** Messages as mail: the aggregator sends it, by the mail server of the settings. */
export interface Emails {
  /** Whether mail can be sent: there is a mail server, and the aggregator runs. */
  readonly enabled: () => boolean;
  readonly store: AlsoStore;
  start(): Disposable;
}

export function openEmails({ context, settings, baseUrl }: Parts): Emails {
  const { jobs, handovers, address } = context;
  const isSet = (): boolean => settings.smtpSenderAddr !== '' && settings.smtpSenderFrom !== '';
  /** The topic's address as a person reads it; that is who the mail is from. */
  const shown = (topic: string): string => `${(baseUrl() ?? '').replace(/^https?:\/\//, '')}/${topic}`;
  return {
    enabled: () => isSet() && address('notify') !== undefined,
    async store(transaction, recorded) {
      if (recorded.every(({ email }) => email === undefined)) return;
      // Loaded by the first mail, since it knows all emojis: most servers send none.
      const { emailOf } = await import('../domain/email-text.ts');
      const mails = recorded.flatMap(({ message, email }) => {
        if (email === undefined) return [];
        const { to, sender } = email;
        const { id, topic } = message;
        const payload = { id, topic, to, ...emailOf(message, { sender, baseUrl: baseUrl() ?? '' }) };
        return [{ payload, key: id }];
      });
      await jobs.enqueueAll(transaction, sendEmail, mails);
    },
    start() {
      return jobs.handle(sendEmail, async ({ payload: { id, topic, to, subject, body } }) => {
        await handovers.pass(notificationOffered, `push:${id}:email`, {
          configuration: 'aggregator',
          urls: [destinationOf(settings, to, shown(topic))],
          notice: { title: subject, body, type: 'info', format: 'text', tags: [], source: 'push' },
        });
      });
    },
  };
}

/** The address of the aggregator for mail of this server to somebody. It holds the password, so that it is made anew each time. */
function destinationOf(settings: EmailSettings, to: string, name: string): string {
  const { smtpSenderAddr, smtpSenderFrom, smtpSenderUser, smtpSenderPass, smtpSenderMode } = settings;
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(smtpSenderAddr) ?? [];
  const isSecured = smtpSenderUser !== '' || port === '587';
  const usual = port === '465' ? 'ssl' : isSecured ? 'starttls' : 'insecure';
  const mode = smtpSenderMode === 'usual' ? usual : smtpSenderMode;
  const account =
    smtpSenderUser === '' ? '' : `${encodeURIComponent(smtpSenderUser)}:${encodeURIComponent(smtpSenderPass)}@`;
  const query = new URLSearchParams({ smtp: host, from: `${name} <${smtpSenderFrom}>`, mode, format: 'text' });
  return `mailto://${account}${host}${port === '' ? '' : `:${port}`}/${encodeURIComponent(to)}?${query.toString()}`;
}
