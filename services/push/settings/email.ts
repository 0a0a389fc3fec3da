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
        'Host and port of the mail server that sends messages with the X-Email parameter, such as ' +
        'mail.example.org:587. Delivery sends them. Leave empty to disable.',
    }),
  smtpSenderFrom: z
    .string()
    .regex(/^(?:[^\s@<>,;"]+@[^\s@<>,;"]+)?$/, 'Use one mail address.')
    .default('')
    .meta({
      live: true,
      needs: { smtpSenderAddr: true },
      title: 'Sender address',
      description: 'Address from which emails are sent. Leave empty to disable.',
    }),
  smtpSenderUser: z
    .string()
    .max(256)
    .default('')
    .meta({
      live: true,
      needs: { smtpSenderAddr: true },
      title: 'Mail server user',
      description: 'Leave empty if the server does not require a sign-in.',
    }),
  smtpSenderPass: z
    .string()
    .max(1024)
    .default('')
    .meta({
      live: true,
      needs: { smtpSenderAddr: true },
      title: 'Mail server password',
      description: 'Large providers require an app password.',
      secret: true,
    }),
  smtpSenderMode: z
    .enum(['usual', 'starttls', 'ssl', 'insecure'])
    .default('usual')
    .meta({
      live: true,
      needs: { smtpSenderAddr: true },
      title: 'Mail server encryption',
      description: 'Encryption of the connection to the mail server.',
      choices: {
        usual: 'Automatic: TLS on port 465, STARTTLS with a user or on port 587',
        starttls: 'STARTTLS',
        ssl: 'Implicit TLS',
        insecure: 'None',
      },
    }),
  emailLimitBurst: z.int().min(0).max(100_000).default(16).meta({
    live: true,
    title: 'Email burst',
    description: 'Maximum number of messages with X-Email that an address can publish in a row.',
  }),
  emailLimitReplenish: z
    .string()
    .refine((text) => (parseDuration(text) ?? 0) >= 1, 'Use a duration such as 1h or 5m, of 1ms at least.')
    .default('1h')
    .meta({
      live: true,
      quantity: 'duration',
      title: 'Email refill interval',
      description: 'One more email is allowed after each interval, up to the burst.',
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
