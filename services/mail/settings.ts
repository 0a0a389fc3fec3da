import * as m from '#messages/mail-settings';
import { z } from 'zod';
import { accessFields } from './settings/access.ts';
import { recipients, rules } from './settings/recipients.ts';

export const Settings = z.object({
  recipients,
  rules,
  recognise: z.boolean().default(true).meta({
    live: true,
    label: m.recognise,
    help: m.recogniseHelp,
  }),
  topicDomain: z
    .string()
    .regex(/^[A-Za-z0-9.-]{0,253}$/, { error: m.topicDomainInvalid })
    .default('')
    .meta({
      label: m.topicDomain,
      help: m.topicDomainHelp,
    }),
  topicPrefix: z
    .string()
    .regex(/^[-_.A-Za-z0-9]{0,32}$/, { error: m.topicPrefixInvalid })
    .default('')
    .meta({
      live: true,
      label: m.topicPrefix,
      help: m.topicPrefixHelp,
    }),
  ...accessFields,
  hostName: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,253}$/, { error: m.hostNameInvalid })
    .default('localhost')
    .meta({ label: m.hostName, help: m.hostNameHelp }),
  maxMegabytes: z.int().min(1).max(256).default(32).meta({
    live: true,
    unit: 'MiB',
    label: m.maxMegabytes,
    help: m.maxMegabytesHelp,
  }),
  maxRecipients: z.int().min(1).max(1000).default(100).meta({
    live: true,
    label: m.maxRecipients,
    help: m.maxRecipientsHelp,
  }),
  maxClients: z.int().min(1).max(1000).default(50).meta({
    live: true,
    label: m.maxClients,
    help: m.maxClientsHelp,
  }),
  idleSeconds: z.int().min(5).max(600).default(60).meta({
    live: true,
    unit: 'seconds',
    label: m.idleSeconds,
    help: m.idleSecondsHelp,
  }),
  spoolDays: z.int().min(2).max(3650).default(7).meta({
    live: true,
    unit: 'days',
    label: m.spoolDays,
    help: m.spoolDaysHelp,
  }),
});
/** Environment names of ntfy. */
export const environment: Readonly<Record<string, keyof Settings>> = {
  NTFY_SMTP_SERVER_DOMAIN: 'topicDomain',
  NTFY_SMTP_SERVER_ADDR_PREFIX: 'topicPrefix',
};
export type Settings = z.infer<typeof Settings>;
