import * as m from '#messages/push-texts';
import { parse } from 'yaml';
import { formatList } from '../../../messages/format.ts';
import { Settings } from '../settings.ts';

/** Settings of ntfy's `server.yml` and the corresponding settings of this service. */
const settingNames: Readonly<Record<string, keyof Settings>> = {
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
/** Settings about the location of the databases, which are ignored without a note. */
const ignoredNames = new Set(['auth-file', 'cache-file', 'attachment-cache-dir', 'listen-http', 'web-push-file']);

/** Reads settings from ntfy's `server.yml`, with a note about settings that are not supported. */
export function readSettings(text: string): {
  settings: Record<string, unknown>;
  /** Folder of attachments. */
  attachments: string | undefined;
  notes: string[];
} {
  const value: unknown = parse(text);
  const settings: Record<string, unknown> = {};
  const unsupported: string[] = [];
  let attachments: string | undefined;
  for (const [name, input] of Object.entries(typeof value === 'object' && value !== null ? value : {})) {
    if (name === 'attachment-cache-dir' && typeof input === 'string') attachments = input;
    const field = Object.hasOwn(settingNames, name) ? settingNames[name] : undefined;
    // Numbers and durations may be written with or without quotes.
    const accepted =
      field &&
      [input, String(input), Number(input)].find((candidate) => Settings.shape[field].safeParse(candidate).success);
    if (field !== undefined && accepted !== undefined) settings[field] = accepted;
    else if (!ignoredNames.has(name)) unsupported.push(name);
  }
  return {
    settings,
    attachments,
    notes: unsupported.length === 0 ? [] : [m.importSettingsSkipped({ names: formatList(unsupported) })],
  };
}
