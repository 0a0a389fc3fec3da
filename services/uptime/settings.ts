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
      title: 'Post events to',
      description: 'A web address that gets each event as JSON. Empty: Delivery, which sends them on.',
    }),
  notifyTag: z.string().max(500).default('').meta({
    title: 'Tag of events',
    description: 'Which destinations get them. Empty: every destination.',
  }),
  certificateDays: z.array(z.int().min(0).max(3650)).min(1).max(20).default([7, 14, 21]).meta({
    title: 'Days before a certificate ends',
    description: 'At each of these a monitor that watches its certificate warns once.',
  }),
  keepDays: z.int().min(1).max(36_500).default(365).meta({
    title: 'Keep for',
    description: 'Days that the history of states and the daily figures are kept. Single checks are kept for a day.',
  }),
  publicUrl: z
    .string()
    .regex(/^(https?:\/\/[^\s?#]+)?$/, 'Use a web address without a query.')
    .default('')
    .meta({
      title: 'Public address',
      description: 'Where others reach this service, for links in feeds. Empty: as each request names it.',
    }),
  subscriberMail: z
    .string()
    .max(2000)
    .regex(/^(mailtos?:\/\/[^\s/?#]+(\/?\?\S*)?)?$/, 'Use mailto:// and a mail server, without a recipient.')
    .default('')
    .meta({
      title: 'Mail to visitors of status pages',
      description:
        'The mail server by which they are told, as Delivery writes it: mailto://user:password@smtp.example.org:587?from=status@example.org&mode=starttls. Empty: they cannot subscribe by mail.',
      secret: true,
    }),
  connectivityAddress: z
    .string()
    .regex(/^(\S+:\d+)?$/, 'Use a name and a port, such as 192.168.1.1:53.')
    .default('')
    .meta({
      title: 'Proof of a network',
      description:
        'Something that always takes a connection. When it does not, silence of others is our own fault and nobody is told. Empty: any network counts.',
    }),
  monitors: things.meta({
    title: 'Monitors',
    description:
      'Made at each start as they stand here, by their names; what is no longer named here goes: [{"name": "web", "type": "http", "url": "https://example.org"}]. A group and what a monitor depends on are named too.',
  }),
  statusPages: things.meta({
    title: 'Status pages',
    description:
      'Made at each start, by their addresses: [{"slug": "main", "title": "Main", "groups": [{"name": "All", "monitors": ["web"]}]}].',
  }),
  maintenances: things.meta({
    title: 'Maintenance',
    description:
      'Made at each start, by their titles: [{"title": "Updates", "strategy": "cron", "cron": "0 3 * * 0", "durationMinutes": 60, "monitors": ["web"]}].',
  }),
});
export type Settings = z.infer<typeof Settings>;
/** What is made of the settings at each start. */
export type Provisioned = Pick<Settings, 'monitors' | 'statusPages' | 'maintenances'>;
