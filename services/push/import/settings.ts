import { parse } from 'yaml';
import { Settings } from '../settings.ts';

/** The peer's names in `server.yml` and the settings they are here. */
const names: Readonly<Record<string, keyof Settings>> = {
  'cache-duration': 'cacheDuration',
  'keepalive-interval': 'keepaliveInterval',
  'message-size-limit': 'messageSizeLimit',
  'disallowed-topics': 'reservedTopics',
  'enable-signup': 'enableSignup',
  'behind-proxy': 'behindProxy',
  'base-url': 'baseUrl',
  'message-delay-limit': 'messageDelayLimit',
  'attachment-file-size-limit': 'attachmentFileSizeLimit',
  'attachment-total-size-limit': 'attachmentTotalSizeLimit',
  'attachment-expiry-duration': 'attachmentExpiryDuration',
  'upstream-base-url': 'upstreamBaseUrl',
  'upstream-access-token': 'upstreamAccessToken',
  'global-topic-limit': 'totalTopicLimit',
  'visitor-request-limit-burst': 'requestLimitBurst',
  'visitor-request-limit-replenish': 'requestLimitReplenish',
  'smtp-sender-addr': 'smtpSenderAddr',
  'smtp-sender-from': 'smtpSenderFrom',
  'smtp-sender-user': 'smtpSenderUser',
  'smtp-sender-pass': 'smtpSenderPass',
  'visitor-email-limit-burst': 'emailLimitBurst',
  'visitor-email-limit-replenish': 'emailLimitReplenish',
  'visitor-subscription-limit': 'subscriptionLimit',
  'visitor-subscriber-rate-limiting': 'subscriberRateLimiting',
  'visitor-prefix-bits-ipv4': 'prefixBitsIpv4',
  'visitor-prefix-bits-ipv6': 'prefixBitsIpv6',
  'visitor-message-daily-limit': 'messageDailyLimit',
  'visitor-attachment-total-size-limit': 'attachmentTotalLimit',
  'visitor-attachment-daily-bandwidth-limit': 'attachmentDailyBandwidth',
};
/** Where the databases are: not settings, but nothing to complain about. */
const silent = new Set(['auth-file', 'cache-file', 'attachment-cache-dir', 'listen-http', 'web-push-file']);

/** Reads the settings out of the peer's `server.yml`, with a sentence about those that mean nothing here. */
export function readSettings(text: string): {
  settings: Record<string, unknown>;
  /** Where files of messages are kept. */
  attachments: string | undefined;
  notes: string[];
} {
  const value: unknown = parse(text);
  const settings: Record<string, unknown> = {};
  const left: string[] = [];
  let attachments: string | undefined;
  for (const [name, given] of Object.entries(typeof value === 'object' && value !== null ? value : {})) {
    if (name === 'attachment-cache-dir' && typeof given === 'string') attachments = given;
    const field = Object.hasOwn(names, name) ? names[name] : undefined;
    // Numbers and durations alike come with and without quotes.
    const found =
      field && [given, String(given), Number(given)].find((each) => Settings.shape[field].safeParse(each).success);
    if (field !== undefined && found !== undefined) settings[field] = found;
    else if (!silent.has(name)) left.push(name);
  }
  return {
    settings,
    attachments,
    notes: left.length === 0 ? [] : [`Settings that were left alone: ${left.join(', ')}.`],
  };
}
