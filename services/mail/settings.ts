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
      title: 'Recognise known programs',
      description:
        'Mails of cron, Watchtower, smartd, mdadm, Proxmox and Synology, pictures of cameras and subjects such as ' +
        '[FAILED] get a better title and their type.',
    }),
  topicDomain: z
    .string()
    .regex(/^[A-Za-z0-9.-]{0,253}$/, 'Use a domain such as ntfy.example.org.')
    .default('')
    .meta({
      title: 'Domain of topics',
      description:
        'Mail to TOPIC+TOKEN at this domain is published to that topic of the push server, with the rights of the token. Empty: off.',
    }),
  topicPrefix: z
    .string()
    .regex(/^[-_.A-Za-z0-9]{0,32}$/, 'Use letters, digits, dots, - and _ only.')
    .default('')
    .meta({
      live: true,
      title: 'In front of topics',
      description: 'What addresses of topics begin with, such as ntfy-.',
    }),
  ...accessFields,
  hostName: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,253}$/, 'Use letters, digits, dots and hyphens only.')
    .default('localhost')
    .meta({ title: 'Host name', description: 'How the server introduces itself to mail programs.' }),
  maxMegabytes: z.int().min(1).max(256).default(32).meta({
    live: true,
    unit: 'MiB',
    title: 'Largest mail',
    description: 'A larger one is refused, and its sender is told so.',
  }),
  maxRecipients: z.int().min(1).max(1000).default(100).meta({
    live: true,
    title: 'Recipients per mail',
    description: 'Further ones are put off, so that the sender tries them again by themselves.',
  }),
  maxClients: z.int().min(1).max(1000).default(50).meta({
    live: true,
    title: 'Connections',
    description: 'Mail programs that may be connected at once; further ones are asked to come again.',
  }),
  idleSeconds: z.int().min(5).max(600).default(60).meta({
    live: true,
    unit: 'seconds',
    title: 'Idle time',
    description: 'A connection on which nothing arrives for this time is closed.',
  }),
  spoolDays: z.int().min(2).max(3650).default(7).meta({
    live: true,
    unit: 'days',
    title: 'Keep mails for',
    description: 'Each mail is kept as it came, attachments included, for this time.',
  }),
});
/** Environment names of ntfy. */
export const environment: Readonly<Record<string, keyof Settings>> = {
  NTFY_SMTP_SERVER_DOMAIN: 'topicDomain',
  NTFY_SMTP_SERVER_ADDR_PREFIX: 'topicPrefix',
};
export type Settings = z.infer<typeof Settings>;
