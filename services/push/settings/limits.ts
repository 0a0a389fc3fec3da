import * as m from '#messages/push-settings';
import { isIP } from 'node:net';
import { z } from 'zod';
import { parseBytes } from '../domain/bytes.ts';
import { parseDuration } from '../domain/duration.ts';

const duration = z.string().refine((text) => (parseDuration(text) ?? 0) >= 1, { error: m.durationInvalid });
const bytes = z.string().refine((text) => parseBytes(text) !== undefined, { error: m.bytesInvalid });
const network = z.string().refine(
  (text) => {
    const [address = '', bits] = text.split('/');
    const family = isIP(address);
    return (
      family !== 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)))
    );
  },
  { error: m.networkInvalid },
);

const count = z.int().min(1).max(100_000_000);

/** Limits per account or address; the defaults are ntfy's. */
export const limitFields = {
  limitAccounts: z.boolean().default(false).meta({
    live: true,
    label: m.limitAccounts,
    help: m.limitAccountsHelp,
  }),
  limitExempt: z.array(network).default(['127.0.0.0/8', '::1/128']).meta({
    live: true,
    label: m.limitExempt,
    help: m.limitExemptHelp,
  }),
  requestLimitBurst: count.default(60).meta({
    live: true,
    label: m.requestLimitBurst,
    help: m.requestLimitBurstHelp,
  }),
  requestLimitReplenish: duration.default('5s').meta({
    live: true,
    quantity: 'duration',
    label: m.requestLimitReplenish,
    help: m.requestLimitReplenishHelp,
  }),
  subscriptionLimit: count.default(30).meta({
    live: true,
    label: m.subscriptionLimit,
    help: m.subscriptionLimitHelp,
  }),
  subscriberRateLimiting: z.boolean().default(false).meta({
    live: true,
    label: m.subscriberRateLimiting,
    help: m.subscriberRateLimitingHelp,
  }),
  prefixBitsIpv4: z.int().min(1).max(32).default(32).meta({
    live: true,
    label: m.prefixBitsIpv4,
    help: m.prefixBitsIpv4Help,
  }),
  prefixBitsIpv6: z.int().min(1).max(128).default(64).meta({
    live: true,
    label: m.prefixBitsIpv6,
    help: m.prefixBitsIpv6Help,
  }),
  topicLimitBurst: count.default(100).meta({
    live: true,
    label: m.topicLimitBurst,
    help: m.topicLimitBurstHelp,
  }),
  topicLimitReplenish: duration.default('1m').meta({
    live: true,
    quantity: 'duration',
    label: m.topicLimitReplenish,
    help: m.topicLimitReplenishHelp,
  }),
  totalTopicLimit: count.default(15_000).meta({ live: true, label: m.totalTopicLimit, help: m.totalTopicLimitHelp }),
  messageDailyLimit: z.int().min(0).max(100_000_000).default(0).meta({
    live: true,
    label: m.messageDailyLimit,
    help: m.messageDailyLimitHelp,
  }),
  attachmentTotalLimit: bytes.default('100M').meta({
    quantity: 'size',
    live: true,
    label: m.attachmentTotalLimit,
    help: m.attachmentTotalLimitHelp,
  }),
  attachmentDailyBandwidth: bytes.default('500M').meta({
    quantity: 'size',
    live: true,
    label: m.attachmentDailyBandwidth,
    help: m.attachmentDailyBandwidthHelp,
  }),
  enableSignup: z.boolean().default(false).meta({
    live: true,
    label: m.enableSignup,
    help: m.enableSignupHelp,
  }),
  behindProxy: z.boolean().default(false).meta({
    live: true,
    label: m.behindProxy,
    help: m.behindProxyHelp,
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
