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
      title: 'Alert webhook',
      description: 'URL that receives each alert as JSON. Leave empty to send alerts through Delivery.',
    }),
  notifyTag: z
    .string()
    .max(500)
    .default('')
    .meta({
      live: true,
      title: 'Alert tag',
      description:
        'Alerts are sent to the Delivery destinations with this tag. Leave empty to send them to every ' +
        'destination.',
    }),
  certificateDays: z.array(z.int().min(0).max(3650)).min(1).max(20).default([7, 14, 21]).meta({
    live: true,
    title: 'Days before expiry to warn',
    description: 'Days before a certificate expires on which a warning is sent, for monitors that check certificates.',
  }),
  keepDays: z.int().min(1).max(36_500).default(365).meta({
    live: true,
    unit: 'days',
    title: 'Keep history for',
    description: 'How long status changes and daily statistics are kept. Single checks are kept for one day.',
  }),
  publicUrl: z
    .string()
    .regex(/^(https?:\/\/[^\s?#]+)?$/, 'Use a web address without a query.')
    .default('')
    .meta({
      live: true,
      title: 'Public address',
      description: 'Base URL of the status pages in feed links. Leave empty to use the address of the request.',
    }),
  subscriberMail: z
    .string()
    .max(2000)
    .regex(/^(mailtos?:\/\/[^\s/?#]+(\/?\?\S*)?)?$/, 'Use mailto:// and a mail server, without a recipient.')
    .default('')
    .meta({
      live: true,
      title: 'Mail server for status page subscribers',
      description:
        'Mail server that notifies subscribers, in the format of Delivery: ' +
        'mailto://user:password@smtp.example.org:587?from=status@example.org&mode=starttls. Leave empty to ' +
        'disable subscriptions by mail.',
      secret: true,
    }),
  allowLinkLocal: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Check link-local and cloud metadata addresses',
      description:
        'When off, monitors cannot reach 169.254.0.0/16, fe80::/10 and the metadata addresses from which ' +
        'cloud servers get credentials.',
    }),
  connectivityAddress: z
    .string()
    .regex(/^(\S+:\d+)?$/, 'Use a name and a port, such as 192.168.1.1:53.')
    .default('')
    .meta({
      live: true,
      title: 'Network check address',
      description:
        'Host and port that always respond, such as 192.168.1.1:53. When they do not, this computer is ' +
        'offline and no alerts are sent. Leave empty to accept any network.',
    }),
  monitors: things.meta({
    live: true,
    title: 'Monitors',
    description:
      'Monitors that are created or updated at each start and deleted when they are removed from this ' +
      'list, such as [{"name": "web", "type": "http", "url": "https://example.org"}]. Groups and ' +
      'dependencies refer to monitors by name.',
  }),
  statusPages: things.meta({
    live: true,
    title: 'Status pages',
    description:
      'Status pages that are created or updated at each start, identified by slug: [{"slug": "main", ' +
      '"title": "Main", "groups": [{"name": "All", "monitors": ["web"]}]}].',
  }),
  maintenances: things.meta({
    live: true,
    title: 'Maintenance',
    description:
      'Maintenance windows that are created or updated at each start, identified by title: [{"title": ' +
      '"Updates", "strategy": "cron", "cron": "0 3 * * 0", "durationMinutes": 60, "monitors": ["web"]}].',
  }),
});
export type Settings = z.infer<typeof Settings>;
/** Settings that provision monitors, status pages and maintenance windows. */
export type ProvisionedSettings = Pick<Settings, 'monitors' | 'statusPages' | 'maintenances'>;
