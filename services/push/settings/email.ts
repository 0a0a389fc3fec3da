import { z } from 'zod';
import { parseDuration } from '../domain/duration.ts';

/** Mail server for messages with `X-Email`, under ntfy's names. */
export const emailFields = {
  smtpSenderAddr: z
    .string()
    .regex(
      /^(?:(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?)?$/,
      'Use a host and a port, such as mail.example.org:587.',
    )
    .default('')
    .meta({
      live: true,
      title: 'Mail server',
      description:
        'Sends messages with the parameter X-Email as mail, such as mail.example.org:587. The aggregator delivers them. Empty: off.',
    }),
  smtpSenderFrom: z
    .string()
    .regex(/^(?:[^\s@<>,;"]+@[^\s@<>,;"]+)?$/, 'Use one mail address.')
    .default('')
    .meta({
      live: true,
      needs: { smtpSenderAddr: true },
      title: 'Mail comes from',
      description: 'The address such mail is sent from. Empty: off.',
    }),
  smtpSenderUser: z
    .string()
    .max(256)
    .default('')
    .meta({
      live: true,
      needs: { smtpSenderAddr: true },
      title: 'User of the mail server',
      description: 'Empty: it asks for none.',
    }),
  smtpSenderPass: z
    .string()
    .max(1024)
    .default('')
    .meta({
      live: true,
      needs: { smtpSenderAddr: true },
      title: 'Password of the mail server',
      description: 'Large providers want one made for apps.',
      secret: true,
    }),
  smtpSenderMode: z
    .enum(['usual', 'starttls', 'ssl', 'insecure'])
    .default('usual')
    .meta({
      live: true,
      needs: { smtpSenderAddr: true },
      title: 'Connection to the mail server',
      description: 'How it is encrypted.',
      choices: {
        usual: 'TLS on port 465, else STARTTLS where there is a user or the port is 587',
        starttls: 'STARTTLS',
        ssl: 'TLS from the first byte',
        insecure: 'Not encrypted',
      },
    }),
  emailLimitBurst: z.int().min(0).max(100_000).default(16).meta({
    live: true,
    title: 'Mails at once',
    description: 'How many messages with X-Email an address may publish in a row.',
  }),
  emailLimitReplenish: z
    .string()
    .refine((text) => (parseDuration(text) ?? 0) >= 1, 'Use a duration such as 1h or 5m, of 1ms at least.')
    .default('1h')
    .meta({
      live: true,
      quantity: 'duration',
      title: 'One more mail every',
      description: 'How fast the mails at once fill up again.',
    }),
};
export type EmailSettings = { readonly [Name in keyof typeof emailFields]: z.infer<(typeof emailFields)[Name]> };

export const emailEnvironment = {
  NTFY_SMTP_SENDER_ADDR: 'smtpSenderAddr',
  NTFY_SMTP_SENDER_FROM: 'smtpSenderFrom',
  NTFY_SMTP_SENDER_USER: 'smtpSenderUser',
  NTFY_SMTP_SENDER_PASS: 'smtpSenderPass',
  NTFY_VISITOR_EMAIL_LIMIT_BURST: 'emailLimitBurst',
  NTFY_VISITOR_EMAIL_LIMIT_REPLENISH: 'emailLimitReplenish',
} as const;
