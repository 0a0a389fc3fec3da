import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import { notificationOffered } from '../../contracts/notify/notification.ts';
import type { Context } from '../../contracts/service.ts';
import type { EmailSettings } from '../settings/email.ts';
import type { WriteHook } from '../messages/write-messages.ts';

/** Forwards a message as mail. Retried for a day while the mail server is unavailable. */
const sendEmail = defineJob(
  'push.email',
  z.object({ id: z.string(), topic: z.string(), to: z.string(), subject: z.string(), body: z.string() }),
  { concurrency: 4, timeoutMs: 60_000 },
);

interface EmailDependencies {
  readonly context: Pick<Context, 'jobs' | 'handovers' | 'address'>;
  readonly settings: EmailSettings;
  readonly baseUrl: () => string | undefined;
}

/** Forwards messages as mail through the notify service, using the configured mail server. */
export interface Emails {
  /** Returns true when mail can be sent: a mail server is configured and the notify service runs. */
  readonly enabled: () => boolean;
  readonly store: WriteHook;
  start(): Disposable;
}

export function openEmails({ context, settings, baseUrl }: EmailDependencies): Emails {
  const { jobs, handovers, address } = context;
  const isConfigured = (): boolean => settings.smtpSenderAddr !== '' && settings.smtpSenderFrom !== '';
  /** Returns the address of a topic for people, used as the name of the sender. */
  const formatTopicAddress = (topic: string): string => `${(baseUrl() ?? '').replace(/^https?:\/\//, '')}/${topic}`;
  return {
    enabled: () => isConfigured() && address('notify') !== undefined,
    async store(transaction, recorded) {
      if (recorded.every(({ email }) => email === undefined)) return;
      // Loaded on first use, because it contains all emoji names and most servers send no mail.
      const { formatEmail } = await import('../domain/email-text.ts');
      const mails = recorded.flatMap(({ message, email }) => {
        if (email === undefined) return [];
        const { to, sender } = email;
        const { id, topic } = message;
        const payload = { id, topic, to, ...formatEmail(message, { sender, baseUrl: baseUrl() ?? '' }) };
        return [{ payload, key: id }];
      });
      await jobs.enqueueAll(transaction, sendEmail, mails);
    },
    start() {
      return jobs.handle(sendEmail, async ({ payload: { id, topic, to, subject, body } }) => {
        await handovers.pass(notificationOffered, `push:${id}:email`, {
          configuration: 'aggregator',
          urls: [buildDestination(settings, to, formatTopicAddress(topic))],
          notice: { title: subject, body, type: 'info', format: 'text', tags: [], source: 'push' },
        });
      });
    },
  };
}

/** Builds the destination URL of a mail. It contains the password, so it is not stored. */
function buildDestination(settings: EmailSettings, to: string, name: string): string {
  const { smtpSenderAddr, smtpSenderFrom, smtpSenderUser, smtpSenderPass, smtpSenderMode } = settings;
  const [, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(smtpSenderAddr) ?? [];
  const isSecured = smtpSenderUser !== '' || port === '587';
  const defaultMode = port === '465' ? 'ssl' : isSecured ? 'starttls' : 'insecure';
  const mode = smtpSenderMode === 'usual' ? defaultMode : smtpSenderMode;
  const account =
    smtpSenderUser === '' ? '' : `${encodeURIComponent(smtpSenderUser)}:${encodeURIComponent(smtpSenderPass)}@`;
  const query = new URLSearchParams({ smtp: host, from: `${name} <${smtpSenderFrom}>`, mode, format: 'text' });
  return `mailto://${account}${host}${port === '' ? '' : `:${port}`}/${encodeURIComponent(to)}?${query.toString()}`;
}
