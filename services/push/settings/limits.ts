import { isIP } from 'node:net';
import { z } from 'zod';
import { parseBytes } from '../domain/bytes.ts';
import { parseDuration } from '../domain/duration.ts';

const duration = z
  .string()
  .refine((text) => (parseDuration(text) ?? 0) >= 1, 'Use a duration such as 5s or 1m, of 1ms at least.');
const bytes = z.string().refine((text) => parseBytes(text) !== undefined, 'Use a size such as 100M or 5G.');
const network = z.string().refine((text) => {
  const [address = '', bits] = text.split('/');
  const family = isIP(address);
  return family !== 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)));
}, 'Use an address such as 192.168.1.7 or a network such as 192.168.1.0/24.');

const count = z.int().min(1).max(100_000_000);

/** Limits per account or address; the defaults are ntfy's. */
export const limitFields = {
  limitAccounts: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Limit accounts',
      description:
        'Applies the limits below to accounts as well. When off, they only apply to visitors without an ' +
        'account, so that your own alerts are never rejected.',
    }),
  limitExempt: z.array(network).default(['127.0.0.0/8', '::1/128']).meta({
    live: true,
    title: 'Exempt addresses',
    description: 'Addresses and networks without limits.',
  }),
  requestLimitBurst: count.default(60).meta({
    live: true,
    title: 'Request burst',
    description: 'Maximum number of requests that an address can send in a row.',
  }),
  requestLimitReplenish: duration.default('5s').meta({
    live: true,
    quantity: 'duration',
    title: 'Request refill interval',
    description:
      'One more request is allowed after each interval, up to the burst. It also limits the messages per day.',
  }),
  subscriptionLimit: count.default(30).meta({
    live: true,
    title: 'Subscriptions per address',
    description: 'Maximum number of open streams of an address.',
  }),
  subscriberRateLimiting: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Subscriber-based rate limiting',
      description:
        'UnifiedPush messages count against the limits of the subscriber instead of the application ' +
        'server. Without a subscriber, they are refused with status 507.',
    }),
  prefixBitsIpv4: z
    .int()
    .min(1)
    .max(32)
    .default(32)
    .meta({
      live: true,
      title: 'IPv4 prefix length',
      description:
        'Addresses with the same prefix share their limits: 32 limits each address separately, 24 limits ' +
        'networks of 256 addresses.',
    }),
  prefixBitsIpv6: z
    .int()
    .min(1)
    .max(128)
    .default(64)
    .meta({
      live: true,
      title: 'IPv6 prefix length',
      description:
        'Addresses with the same prefix share their limits. The default of 64 is the usual network size of ' +
        'one customer.',
    }),
  topicLimitBurst: count.default(100).meta({
    live: true,
    title: 'New topic burst',
    description: 'Maximum number of new topics that an address can create in a row.',
  }),
  topicLimitReplenish: duration.default('1m').meta({
    live: true,
    quantity: 'duration',
    title: 'New topic refill interval',
    description: 'One more new topic is allowed after each interval, up to the burst.',
  }),
  totalTopicLimit: count
    .default(15_000)
    .meta({ live: true, title: 'Total topics', description: 'Maximum number of topics in use at the same time.' }),
  messageDailyLimit: z
    .int()
    .min(0)
    .max(100_000_000)
    .default(0)
    .meta({
      live: true,
      title: 'Messages per day',
      description:
        'Maximum number of messages that an address can publish per day. Set to 0 to limit them only by ' +
        'the request limit.',
    }),
  attachmentTotalLimit: bytes.default('100M').meta({
    quantity: 'size',
    live: true,
    title: 'Attachments per address',
    description: 'Maximum size of all stored attachments of an address.',
  }),
  attachmentDailyBandwidth: bytes.default('500M').meta({
    quantity: 'size',
    live: true,
    title: 'Attachment bandwidth per day',
    description: 'Maximum size of the attachments that an address can upload and download per day.',
  }),
  enableSignup: z.boolean().default(false).meta({
    live: true,
    title: 'Sign-up',
    description: 'Allows everyone who can reach this server to create an account. New accounts have no grants.',
  }),
  behindProxy: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Behind a proxy',
      description:
        'Reads the client address from the last entry of X-Forwarded-For. Enable it only behind a proxy ' +
        'that sets this header.',
    }),
};
export type LimitSettings = { readonly [Name in keyof typeof limitFields]: z.infer<(typeof limitFields)[Name]> };

/** Environment names of ntfy, and Homeport's own where ntfy has none. */
export const limitEnvironment: Readonly<Record<string, keyof LimitSettings>> = {
  NTFY_VISITOR_REQUEST_LIMIT_BURST: 'requestLimitBurst',
  NTFY_VISITOR_REQUEST_LIMIT_REPLENISH: 'requestLimitReplenish',
  NTFY_VISITOR_REQUEST_LIMIT_EXEMPT_HOSTS: 'limitExempt',
  NTFY_VISITOR_SUBSCRIPTION_LIMIT: 'subscriptionLimit',
  NTFY_VISITOR_SUBSCRIBER_RATE_LIMITING: 'subscriberRateLimiting',
  NTFY_VISITOR_PREFIX_BITS_IPV4: 'prefixBitsIpv4',
  NTFY_VISITOR_PREFIX_BITS_IPV6: 'prefixBitsIpv6',
  NTFY_VISITOR_MESSAGE_DAILY_LIMIT: 'messageDailyLimit',
  NTFY_VISITOR_ATTACHMENT_TOTAL_SIZE_LIMIT: 'attachmentTotalLimit',
  NTFY_VISITOR_ATTACHMENT_DAILY_BANDWIDTH_LIMIT: 'attachmentDailyBandwidth',
  NTFY_GLOBAL_TOPIC_LIMIT: 'totalTopicLimit',
  NTFY_ENABLE_SIGNUP: 'enableSignup',
  NTFY_BEHIND_PROXY: 'behindProxy',
  PUSH_LIMIT_ACCOUNTS: 'limitAccounts',
  PUSH_TOPIC_LIMIT_BURST: 'topicLimitBurst',
};
