import { z } from 'zod';

export const environment: Readonly<Record<string, string>> = {
  UPTIME_NOTIFY_URL: 'notifyUrl',
  UPTIME_NOTIFY_TAG: 'notifyTag',
  UPTIME_PUBLIC_URL: 'publicUrl',
  UPTIME_KEEP_DAYS: 'keepDays',
  UPTIME_SUBSCRIBER_MAIL: 'subscriberMail',
  UPTIME_MONITORS: 'monitors',
  UPTIME_STATUS_PAGES: 'statusPages',
  UPTIME_MAINTENANCES: 'maintenances',
  UPTIME_ALLOW_LINK_LOCAL: 'allowLinkLocal',
  UPTIME_CONNECTIVITY_ADDRESS: 'connectivityAddress',
};

const things = z.array(z.record(z.string(), z.unknown())).max(5000).default([]);

/** Section `services.uptime` of the settings. */
export const Settings = z.object({
  notifyUrl: z
    .string()
    .regex(/^(https?:\/\/\S+)?$/, 'Use a web address.')
    .default('')
    .meta({
      live: true,
      title: 'Send alerts to a web address',
      description: 'It gets each alert as JSON. Empty: Delivery gets them and sends them on.',
    }),
  notifyTag: z.string().max(500).default('').meta({
    live: true,
    title: 'Tag of alerts',
    description: 'Destinations of Delivery with this tag get them. Empty: every destination.',
  }),
  certificateDays: z.array(z.int().min(0).max(3650)).min(1).max(20).default([7, 14, 21]).meta({
    live: true,
    title: 'Warn so many days before a certificate ends',
    description: 'Once at each of these. For monitors that watch their certificate.',
  }),
  keepDays: z.int().min(1).max(36_500).default(365).meta({
    live: true,
    unit: 'days',
    title: 'Keep history for',
    description: 'So long changes of state and the figures of each day are kept. Single checks are kept for one day.',
  }),
  publicUrl: z
    .string()
    .regex(/^(https?:\/\/[^\s?#]+)?$/, 'Use a web address without a query.')
    .default('')
    .meta({
      live: true,
      title: 'Public address',
      description: 'Where visitors reach the status pages, for links in feeds. Empty: the address that they came by.',
    }),
  subscriberMail: z
    .string()
    .max(2000)
    .regex(/^(mailtos?:\/\/[^\s/?#]+(\/?\?\S*)?)?$/, 'Use mailto:// and a mail server, without a recipient.')
    .default('')
    .meta({
      live: true,
      title: 'Mail to visitors of status pages',
      description:
        'The mail server by which they are told, as Delivery writes it: ' +
        'mailto://user:password@smtp.example.org:587?from=status@example.org&mode=starttls. Empty: they ' +
        'cannot subscribe by mail.',
      secret: true,
    }),
  allowLinkLocal: z.boolean().default(false).meta({
    live: true,
    title: 'Check link-local and cloud metadata addresses',
    description:
      'When off, monitors cannot reach 169.254.0.0/16, fe80::/10 and the addresses where clouds hand out credentials to computers.',
  }),
  connectivityAddress: z
    .string()
    .regex(/^(\S+:\d+)?$/, 'Use a name and a port, such as 192.168.1.1:53.')
    .default('')
    .meta({
      live: true,
      title: 'Check your own network by',
      description:
        'A name and a port that always answer, such as 192.168.1.1:53. When they do not, the fault is ' +
        'here: nobody is told that others are down. Empty: any network counts.',
    }),
  monitors: things.meta({
    live: true,
    title: 'Monitors',
    description:
      'Made at each start as they stand here, by their names; what is no longer named here goes: ' +
      '[{"name": "web", "type": "http", "url": "https://example.org"}]. A group and what a monitor ' +
      'depends on are named too.',
  }),
  statusPages: things.meta({
    live: true,
    title: 'Status pages',
    description:
      'Made at each start, by their addresses: [{"slug": "main", "title": "Main", "groups": [{"name": "All", "monitors": ["web"]}]}].',
  }),
  maintenances: things.meta({
    live: true,
    title: 'Maintenance',
    description:
      'Made at each start, by their titles: [{"title": "Updates", "strategy": "cron", "cron": "0 3 * * ' +
      '0", "durationMinutes": 60, "monitors": ["web"]}].',
  }),
});
export type Settings = z.infer<typeof Settings>;
/** Settings that provision monitors, status pages and maintenance windows. */
export type ProvisionedSettings = Pick<Settings, 'monitors' | 'statusPages' | 'maintenances'>;
