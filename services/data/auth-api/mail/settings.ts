import * as m from '#messages/data-settings';
import { z } from 'zod';

/** Settings of the mail server; the environment names are those of Supabase. */
export const mailFields = {
  smtpHost: z
    .string()
    .max(253)
    .regex(/^[A-Za-z0-9.:[\]-]*$/, { error: m.smtpHostInvalid })
    .default('')
    .meta({
      live: true,
      label: m.smtpHost,
      help: m.smtpHostHelp,
    }),
  smtpPort: z
    .int()
    .min(1)
    .max(65_535)
    .default(587)
    .meta({ live: true, needs: { smtpHost: true }, label: m.smtpPort, help: m.smtpPortHelp }),
  smtpUser: z
    .string()
    .max(320)
    .default('')
    .meta({
      live: true,
      needs: { smtpHost: true },
      label: m.smtpUser,
      help: m.smtpUserHelp,
    }),
  smtpPassword: z
    .string()
    .max(1024)
    .default('')
    .meta({
      live: true,
      needs: { smtpHost: true },
      label: m.smtpPassword,
      help: m.smtpPasswordHelp,
      secret: true,
    }),
  smtpMode: z
    .enum(['starttls', 'ssl', 'insecure'])
    .default('starttls')
    .meta({
      live: true,
      needs: { smtpHost: true },
      label: m.smtpMode,
      help: m.smtpModeHelp,
      choices: { starttls: m.smtpModeStarttls, ssl: m.smtpModeSsl, insecure: m.smtpModeInsecure },
    }),
  smtpFrom: z
    .string()
    .max(320)
    .default('')
    .meta({
      live: true,
      needs: { smtpHost: true },
      label: m.smtpFrom,
      help: m.smtpFromHelp,
    }),
  smtpName: z
    .string()
    .max(100)
    .default('')
    .meta({
      live: true,
      needs: { smtpHost: true },
      label: m.smtpName,
      help: m.smtpNameHelp,
    }),
};
export type MailSettings = { readonly [Name in keyof typeof mailFields]: z.infer<(typeof mailFields)[Name]> };

export const mailEnvironment = {
  DATA_SMTP_HOST: 'smtpHost',
  DATA_SMTP_PORT: 'smtpPort',
  DATA_SMTP_USER: 'smtpUser',
  DATA_SMTP_PASS: 'smtpPassword',
  DATA_SMTP_MODE: 'smtpMode',
  DATA_SMTP_ADMIN_EMAIL: 'smtpFrom',
  DATA_SMTP_SENDER_NAME: 'smtpName',
} as const satisfies Record<string, keyof MailSettings>;

/** Returns the notification URL for a mail address; undefined without a mail server. It contains the password. */
export function buildMailDestination(settings: MailSettings, to: string): string | undefined {
  const { smtpHost, smtpPort, smtpUser, smtpPassword, smtpMode, smtpFrom, smtpName } = settings;
  if (smtpHost === '' || smtpFrom === '') return undefined;
  const account = smtpUser === '' ? '' : `${encodeURIComponent(smtpUser)}:${encodeURIComponent(smtpPassword)}@`;
  const from = smtpName === '' ? smtpFrom : `${smtpName} <${smtpFrom}>`;
  const query = new URLSearchParams({ smtp: smtpHost, from, mode: smtpMode, format: 'text' });
  return `mailto://${account}${smtpHost}:${smtpPort}/${encodeURIComponent(to)}?${query.toString()}`;
}
