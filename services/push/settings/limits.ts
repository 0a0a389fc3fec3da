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
  limitAccounts: z.boolean().default(false).meta({
    live: true,
    title: 'Limit accounts too',
    description: 'Off: the limits below hold for strangers only, so that a burst of alerts of your own is never lost.',
  }),
  limitExempt: z.array(network).default(['127.0.0.0/8', '::1/128']).meta({
    live: true,
    title: 'Addresses without limits',
    description: 'Addresses and networks that no limit holds for.',
  }),
  requestLimitBurst: count.default(60).meta({
    live: true,
    title: 'Requests at once',
    description: 'How many requests an address may make in a row before it has to wait.',
  }),
  requestLimitReplenish: duration.default('5s').meta({
    live: true,
    quantity: 'duration',
    title: 'One more request every',
    description: 'How fast the requests at once fill up again. A day holds this many messages, too.',
  }),
  subscriptionLimit: count
    .default(30)
    .meta({ live: true, title: 'Open subscriptions each', description: 'How many streams one address may keep open.' }),
  subscriberRateLimiting: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Charge those who listen',
      description:
        'What application servers send by UnifiedPush counts for whoever listens to the topic. They have to listen ' +
        'first: until then it is refused with 507.',
    }),
  prefixBitsIpv4: z.int().min(1).max(32).default(32).meta({
    live: true,
    title: 'One IPv4 sender',
    description: 'Addresses that begin with the same bits count as one: 32 for each by itself, 24 for networks of 256.',
  }),
  prefixBitsIpv6: z.int().min(1).max(128).default(64).meta({
    live: true,
    title: 'One IPv6 sender',
    description: 'The same for IPv6, where everyone has at least a network of 64 bits.',
  }),
  topicLimitBurst: count.default(100).meta({
    live: true,
    title: 'New topics at once',
    description: 'How many topics that nobody used before an address may use in a row.',
  }),
  topicLimitReplenish: duration.default('1m').meta({
    live: true,
    quantity: 'duration',
    title: 'One more new topic every',
    description: 'How fast the new topics at once fill up again.',
  }),
  totalTopicLimit: count
    .default(15_000)
    .meta({ live: true, title: 'Topics in all', description: 'How many topics may be in use at the same time.' }),
  messageDailyLimit: z.int().min(0).max(100_000_000).default(0).meta({
    live: true,
    title: 'Messages a day',
    description: 'How many messages an address may publish a day; 0: as many as its requests allow.',
  }),
  attachmentTotalLimit: bytes.default('100M').meta({
    quantity: 'size',
    live: true,
    title: 'Attachments each',
    description: 'Size of all stored attachments of one address.',
  }),
  attachmentDailyBandwidth: bytes.default('500M').meta({
    quantity: 'size',
    live: true,
    title: 'Attachment traffic a day',
    description: 'How much one address may upload and download a day.',
  }),
  enableSignup: z.boolean().default(false).meta({
    live: true,
    title: 'Let strangers sign up',
    description: 'Whoever reaches this server may make himself an account, without any grant at first.',
  }),
  behindProxy: z.boolean().default(false).meta({
    live: true,
    title: 'Behind a proxy',
    description: 'Takes the sender’s address from the last entry of X-Forwarded-For. Only with a proxy that sets it.',
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
