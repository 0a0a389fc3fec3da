import * as m from '#messages/push-settings';
import { z } from 'zod';
import { deliveryEnvironment, deliveryFields } from './settings/delivery.ts';
import { parseDuration } from './domain/duration.ts';
import { endpointEntry, vendorEndpoints } from './domain/push-endpoints.ts';
import { reservedTopics } from './domain/topics.ts';
import { emailEnvironment, emailFields } from './settings/email.ts';
import { limitEnvironment, limitFields } from './settings/limits.ts';

/** Duration in ntfy's configuration format, between two bounds in ms. */
function duration(minMs: number, maxMs: number, error: () => string) {
  const isValid = (text: string): boolean => {
    const ms = parseDuration(text);
    return ms !== undefined && ms >= minMs && ms <= maxMs;
  };
  return z.string().refine(isValid, { error });
}

const minuteMs = 60_000;

export const Settings = z.object({
  cacheDuration: duration(minuteMs, 8760 * 60 * minuteMs, m.cacheDurationInvalid)
    .default('12h')
    .meta({
      live: true,
      quantity: 'duration',
      label: m.cacheDuration,
      help: m.cacheDurationHelp,
    }),
  keepaliveInterval: duration(5000, 10 * minuteMs, m.keepaliveIntervalInvalid)
    .default('45s')
    .meta({
      live: true,
      quantity: 'duration',
      label: m.keepaliveInterval,
      help: m.keepaliveIntervalHelp,
    }),
  messageSizeLimit: z.int().min(256).max(16_384).default(4096).meta({
    live: true,
    label: m.messageSizeLimit,
    help: m.messageSizeLimitHelp,
  }),
  keepInInbox: z.boolean().default(true).meta({
    live: true,
    label: m.keepInInbox,
    help: m.keepInInboxHelp,
  }),
  reservedTopics: z
    .array(z.string())
    .default([...reservedTopics])
    .meta({ live: true, label: m.reservedTopics, help: m.reservedTopicsHelp }),
  maxTopics: z.int().min(1).max(1000).default(1000).meta({
    live: true,
    label: m.maxTopics,
    help: m.maxTopicsHelp,
  }),
  maxSubscribers: z.int().min(1).max(100_000).default(20_000).meta({
    live: true,
    label: m.maxSubscribers,
    help: m.maxSubscribersHelp,
  }),
  webPush: z.boolean().default(true).meta({
    live: true,
    label: m.webPush,
    help: m.webPushHelp,
  }),
  webPushContact: z
    .string()
    .regex(/^(mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/, { error: m.webPushContactInvalid })
    .default('mailto:owner@homeport.invalid')
    .meta({
      live: true,
      label: m.webPushContact,
      help: m.webPushContactHelp,
    }),
  webPushHosts: z
    .array(z.string().regex(endpointEntry, { error: m.webPushHostsInvalid }))
    .default([...vendorEndpoints])
    .meta({
      live: true,
      label: m.webPushHosts,
      help: m.webPushHostsHelp,
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
