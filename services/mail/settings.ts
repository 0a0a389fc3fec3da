import { z } from 'zod';
import { accessFields } from './settings/access.ts';
import { recipients, rules } from './settings/recipients.ts';

export const Settings = z.object({
  recipients,
  rules,
  recognise: z
    .boolean()
    .default(true)
    .meta({
      live: true,
      title: 'Recognize known programs',
      description:
        'Sets a better title and type for emails from cron, Watchtower, smartd, mdadm, Proxmox, Synology ' +
        'and cameras, and for subjects such as [FAILED].',
    }),
  topicDomain: z
    .string()
    .regex(/^[A-Za-z0-9.-]{0,253}$/, 'Use a domain such as ntfy.example.org.')
    .default('')
    .meta({
      title: 'Topic domain',
      description:
        'Mail to TOPIC+TOKEN at this domain is published to that topic in Messages, with the permissions of ' +
        'the token. Leave empty to disable.',
    }),
  topicPrefix: z
    .string()
    .regex(/^[-_.A-Za-z0-9]{0,32}$/, 'Use letters, digits, dots, - and _ only.')
    .default('')
    .meta({
      live: true,
      title: 'Topic prefix',
      description: 'Prefix of topic addresses, such as ntfy-.',
    }),
  ...accessFields,
  hostName: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,253}$/, 'Use letters, digits, dots and hyphens only.')
    .default('localhost')
    .meta({ title: 'Host name', description: 'Host name in the SMTP greeting.' }),
  maxMegabytes: z.int().min(1).max(256).default(32).meta({
    live: true,
    unit: 'MiB',
    title: 'Maximum mail size',
    description: 'Larger emails are rejected with an error.',
  }),
  maxRecipients: z.int().min(1).max(1000).default(100).meta({
    live: true,
    title: 'Recipients per mail',
    description: 'Further recipients are deferred, so that the sender tries them again separately.',
  }),
  maxClients: z.int().min(1).max(1000).default(50).meta({
    live: true,
    title: 'Connections',
    description: 'Maximum number of concurrent connections. Further clients are asked to try again later.',
  }),
  idleSeconds: z.int().min(5).max(600).default(60).meta({
    live: true,
    unit: 'seconds',
    title: 'Idle timeout',
    description: 'Connections are closed after this time without data.',
  }),
  spoolDays: z.int().min(2).max(3650).default(7).meta({
    live: true,
    unit: 'days',
    title: 'Keep mails for',
    description: 'How long the original emails are kept, including attachments.',
  }),
});
/** Environment names of ntfy. */
export const environment: Readonly<Record<string, keyof Settings>> = {
  NTFY_SMTP_SERVER_DOMAIN: 'topicDomain',
  NTFY_SMTP_SERVER_ADDR_PREFIX: 'topicPrefix',
};
export type Settings = z.infer<typeof Settings>;
