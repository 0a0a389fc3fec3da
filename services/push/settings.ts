import { z } from 'zod';
import { deliveryEnvironment, deliveryFields } from './settings/delivery.ts';
import { parseDuration } from './domain/duration.ts';
import { endpointEntry, vendorEndpoints } from './domain/push-endpoints.ts';
import { reservedTopics } from './domain/topics.ts';
import { emailEnvironment, emailFields } from './settings/email.ts';
import { limitEnvironment, limitFields } from './settings/limits.ts';

/** Duration in ntfy's configuration format, between two bounds in ms. */
function duration(minMs: number, maxMs: number, examples: string) {
  return z.string().refine((text) => {
    const ms = parseDuration(text);
    return ms !== undefined && ms >= minMs && ms <= maxMs;
  }, `Use a duration such as ${examples}.`);
}

const minuteMs = 60_000;

export const Settings = z.object({
  cacheDuration: duration(minuteMs, 8760 * 60 * minuteMs, '12h or 90m, between 1m and 8760h')
    .default('12h')
    .meta({
      live: true,
      quantity: 'duration',
      title: 'Keep messages for',
      description: 'How long a message can be read again by clients that come back. The inbox keeps its own copy.',
    }),
  keepaliveInterval: duration(5000, 10 * minuteMs, '45s, between 5s and 10m')
    .default('45s')
    .meta({
      live: true,
      quantity: 'duration',
      title: 'Sign of life every',
      description:
        'How often open streams get a keepalive event. The Android app gives up after 77 seconds without one.',
    }),
  messageSizeLimit: z.int().min(256).max(16_384).default(4096).meta({
    live: true,
    title: 'Message size limit',
    description: 'Bytes at which the text of a message is refused as too long.',
  }),
  keepInInbox: z.boolean().default(true).meta({
    live: true,
    title: 'Keep in the inbox',
    description: 'Shows every published message in the app’s inbox too.',
  }),
  reservedTopics: z
    .array(z.string())
    .default([...reservedTopics])
    .meta({ live: true, title: 'Reserved topics', description: 'Names that nobody can publish or subscribe to.' }),
  maxTopics: z
    .int()
    .min(1)
    .max(1000)
    .default(1000)
    .meta({ live: true, title: 'Topics a subscription', description: 'How many topics one subscription may list.' }),
  maxSubscribers: z.int().min(1).max(100_000).default(20_000).meta({
    live: true,
    title: 'Open subscriptions',
    description: 'How many streams may be open at once, of all clients together.',
  }),
  webPush: z.boolean().default(true).meta({
    live: true,
    title: 'Messages in browsers',
    description:
      'Lets browsers show messages while the page is closed (web push), through the service of their vendor.',
  }),
  webPushContact: z
    .string()
    .regex(/^(mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/, 'Use mailto: and an address, or an https:// address.')
    .default('mailto:owner@homeport.invalid')
    .meta({
      live: true,
      title: 'Contact for browser vendors',
      description: 'Where a browser’s vendor can reach you when something is wrong; some refuse made-up addresses.',
    }),
  webPushHosts: z
    .array(
      z.string().regex(endpointEntry, 'Use a host, *.domain, or a whole address such as https://push.example:8443.'),
    )
    .default([...vendorEndpoints])
    .meta({
      live: true,
      title: 'Services of browser vendors',
      description:
        'Where messages for browsers may be sent (web push): hosts, *.domains, or whole addresses of your own.',
    }),
  ...limitFields,
  ...deliveryFields,
  ...emailFields,
});
export type Settings = z.infer<typeof Settings>;

/** Environment names of ntfy, and Homeport's own where ntfy has none. */
export const environment: Readonly<Record<string, keyof Settings>> = {
  NTFY_CACHE_DURATION: 'cacheDuration',
  NTFY_KEEPALIVE_INTERVAL: 'keepaliveInterval',
  NTFY_MESSAGE_SIZE_LIMIT: 'messageSizeLimit',
  PUSH_WEB_PUSH_CONTACT: 'webPushContact',
  PUSH_WEB_PUSH_HOSTS: 'webPushHosts',
  ...limitEnvironment,
  ...deliveryEnvironment,
  ...emailEnvironment,
};
