import * as m from '#messages/push-settings';
import { z } from 'zod';
import { parseDuration } from '../domain/duration.ts';

/** Mail server for messages with `X-Email`, under ntfy's names. */
export const emailFields = {
  smtpSenderAddr: z
    .string()
    .regex(/^(?:(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?)?$/, { error: m.smtpSenderAddrInvalid })
    .default('')
    .meta({
      live: true,
      label: m.smtpSenderAddr,
      help: m.smtpSenderAddrHelp,
    }),
  smtpSenderFrom: z
    .string()
    .regex(/^(?:[^\s@<>,;"]+@[^\s@<>,;"]+)?$/, { error: m.smtpSenderFromInvalid })
    .default('')
    .meta({
      live: true,
      needs: { smtpSenderAddr: true },
      label: m.smtpSenderFrom,
      help: m.smtpSenderFromHelp,
    }),
  smtpSenderUser: z
    .string()
    .max(256)
    .default('')
    .meta({
      live: true,
      needs: { smtpSenderAddr: true },
      label: m.smtpSenderUser,
      help: m.smtpSenderUserHelp,
    }),
  smtpSenderPass: z
    .string()
    .max(1024)
    .default('')
    .meta({
      live: true,
      needs: { smtpSenderAddr: true },
      label: m.smtpSenderPass,
      help: m.smtpSenderPassHelp,
      secret: true,
    }),
  smtpSenderMode: z
    .enum(['usual', 'starttls', 'ssl', 'insecure'])
    .default('usual')
    .meta({
      live: true,
      needs: { smtpSenderAddr: true },
      label: m.smtpSenderMode,
      help: m.smtpSenderModeHelp,
      choices: {
        usual: m.smtpSenderModeUsual,
        starttls: m.smtpSenderModeStarttls,
        ssl: m.smtpSenderModeSsl,
        insecure: m.smtpSenderModeInsecure,
      },
    }),
  emailLimitBurst: z.int().min(0).max(100_000).default(16).meta({
    live: true,
    label: m.emailLimitBurst,
    help: m.emailLimitBurstHelp,
  }),
  emailLimitReplenish: z
    .string()
    .refine((text) => (parseDuration(text) ?? 0) >= 1, { error: m.emailLimitReplenishInvalid })
    .default('1h')
    .meta({
      live: true,
      quantity: 'duration',
      label: m.emailLimitReplenish,
      help: m.emailLimitReplenishHelp,
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
