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
      description: 'How long messages are cached for clients that reconnect. The inbox keeps its own copy.',
    }),
  keepaliveInterval: duration(5000, 10 * minuteMs, '45s, between 5s and 10m')
    .default('45s')
    .meta({
      live: true,
      quantity: 'duration',
      title: 'Keepalive interval',
      description:
        'How often a keepalive event is sent to open streams. The Android app disconnects after 77 seconds ' +
        'without one.',
    }),
  messageSizeLimit: z.int().min(256).max(16_384).default(4096).meta({
    live: true,
    title: 'Message size limit',
    description: 'Maximum size of a message text in bytes.',
  }),
  keepInInbox: z.boolean().default(true).meta({
    live: true,
    title: 'Keep in the inbox',
    description: 'Adds every published message to the inbox.',
  }),
  reservedTopics: z
    .array(z.string())
    .default([...reservedTopics])
    .meta({ live: true, title: 'Reserved topics', description: 'Topics that cannot be published or subscribed to.' }),
  maxTopics: z.int().min(1).max(1000).default(1000).meta({
    live: true,
    title: 'Topics per subscription',
    description: 'Maximum number of topics in one subscription.',
  }),
  maxSubscribers: z.int().min(1).max(100_000).default(20_000).meta({
    live: true,
    title: 'Open subscriptions',
    description: 'Maximum number of open streams of all clients together.',
  }),
  webPush: z.boolean().default(true).meta({
    live: true,
    title: 'Web push',
    description:
      'Allows browsers to show messages while the page is closed, through the push service of the browser vendor.',
  }),
  webPushContact: z
    .string()
    .regex(/^(mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/, 'Use mailto: and an address, or an https:// address.')
    .default('mailto:owner@homeport.invalid')
    .meta({
      live: true,
      title: 'Contact for browser vendors',
      description: 'Address at which browser vendors can contact you about problems. Some reject invalid addresses.',
    }),
  webPushHosts: z
    .array(z.string().regex(endpointEntry, 'Use a host, *.domain or a complete URL such as https://push.example:8443.'))
    .default([...vendorEndpoints])
    .meta({
      live: true,
      title: 'Web push services',
      description: 'Push services to which web push messages can be sent: hosts, *.domains or complete URLs.',
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
