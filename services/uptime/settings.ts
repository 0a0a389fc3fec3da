import * as m from '#messages/uptime-settings';
import { z } from 'zod';

export const environment: Readonly<Record<string, string>> = {
  UPTIME_NOTIFY_URL: 'notifyUrl',
  UPTIME_NOTIFY_TAG: 'notifyTag',
  UPTIME_PUBLIC_URL: 'publicUrl',
  UPTIME_KEEP_DAYS: 'keepDays',
  UPTIME_SUBSCRIBER_MAIL: 'subscriberMail',
  UPTIME_MONITORS: 'monitors',
  UPTIME_PROXIES: 'proxies',
  UPTIME_STATUS_PAGES: 'statusPages',
  UPTIME_MAINTENANCES: 'maintenances',
  UPTIME_ALLOW_LINK_LOCAL: 'allowLinkLocal',
  UPTIME_CONNECTIVITY_ADDRESS: 'connectivityAddress',
  UPTIME_FAVICONS: 'favicons',
};

const things = z.array(z.record(z.string(), z.unknown())).max(5000).default([]);

/** Section `services.uptime` of the settings. */
export const Settings = z.object({
  notifyUrl: z
    .string()
    .regex(/^(https?:\/\/\S+)?$/, { error: m.notifyUrlInvalid })
    .default('')
    .meta({
      live: true,
      label: m.notifyUrl,
      help: m.notifyUrlHelp,
    }),
  notifyTag: z.string().max(500).default('').meta({
    live: true,
    label: m.notifyTag,
    help: m.notifyTagHelp,
  }),
  certificateDays: z.array(z.int().min(0).max(3650)).min(1).max(20).default([7, 14, 21]).meta({
    live: true,
    label: m.certificateDays,
    help: m.certificateDaysHelp,
  }),
  keepDays: z.int().min(1).max(36_500).default(365).meta({
    live: true,
    unit: 'days',
    label: m.keepDays,
    help: m.keepDaysHelp,
  }),
  publicUrl: z
    .string()
    .regex(/^(https?:\/\/[^\s?#]+)?$/, { error: m.publicUrlInvalid })
    .default('')
    .meta({
      live: true,
      label: m.publicUrl,
      help: m.publicUrlHelp,
    }),
  subscriberMail: z
    .string()
    .max(2000)
    .regex(/^(mailtos?:\/\/[^\s/?#]+(\/?\?\S*)?)?$/, { error: m.subscriberMailInvalid })
    .default('')
    .meta({
      live: true,
      label: m.subscriberMail,
      help: m.subscriberMailHelp,
      secret: true,
    }),
  allowLinkLocal: z.boolean().default(false).meta({
    live: true,
    label: m.allowLinkLocal,
    help: m.allowLinkLocalHelp,
  }),
  connectivityAddress: z
    .string()
    .regex(/^(\S+:\d+)?$/, { error: m.connectivityAddressInvalid })
    .default('')
    .meta({
      live: true,
      label: m.connectivityAddress,
      help: m.connectivityAddressHelp,
    }),
  favicons: z.boolean().default(true).meta({
    live: true,
    label: m.favicons,
    help: m.faviconsHelp,
  }),
  monitors: things.meta({
    live: true,
    label: m.monitors,
    help: m.monitorsHelp,
  }),
  proxies: z
    .array(z.looseObject({ name: z.string().min(1), password: z.string().max(4096).optional().meta({ secret: true }) }))
    .max(500)
    .default([])
    .meta({
      live: true,
      label: m.proxies,
      help: m.proxiesHelp,
    }),
  statusPages: z
    .array(z.looseObject({ password: z.string().max(200).optional().meta({ secret: true }) }))
    .max(5000)
    .default([])
    .meta({
      live: true,
      label: m.statusPages,
      help: m.statusPagesHelp,
    }),
  maintenances: things.meta({
    live: true,
    label: m.maintenances,
    help: m.maintenancesHelp,
  }),
});
export type Settings = z.infer<typeof Settings>;
/** Settings that provision monitors, proxies, status pages and maintenance windows. */
export type ProvisionedSettings = Pick<Settings, 'monitors' | 'proxies' | 'statusPages' | 'maintenances'>;
