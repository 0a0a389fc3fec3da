import { z } from 'zod';
import { parseBytes } from '../domain/bytes.ts';
import { parseDuration } from '../domain/duration.ts';

const bytes = z.string().refine((text) => parseBytes(text) !== undefined, 'Use a size such as 15M or 5G.');
const duration = z
  .string()
  .refine((text) => (parseDuration(text) ?? 0) >= 60_000, 'Use a duration such as 3h, of 1m at least.');
const address = z
  .string()
  .regex(
    /^(https?:\/\/[^\s/?#]+(\/[^\s?#]*[^\s/?#])?)?$/,
    'Use an address such as https://push.example.org, without a slash at the end.',
  );

/** Settings for the public address, delayed messages and attachments. */
export const deliveryFields = {
  baseUrl: address.default('').meta({
    live: true,
    title: 'Public address',
    example: 'https://push.home.lan',
    description:
      'Address at which phones reach this server, also used for attachment links. Leave empty if it is ' +
      'only used on this computer.',
  }),
  messageDelayLimit: duration.default('72h').meta({
    quantity: 'duration',
    live: true,
    title: 'Maximum delay',
    description: 'How far in the future a message can be scheduled.',
  }),
  attachmentFileSizeLimit: bytes.default('15M').meta({
    quantity: 'size',
    live: true,
    title: 'Maximum attachment size',
    description: 'Maximum size of a file. Set to 0 to refuse attachments.',
  }),
  attachmentTotalSizeLimit: bytes.default('5G').meta({
    quantity: 'size',
    live: true,
    title: 'Total attachment size',
    description: 'Maximum size of all stored attachments.',
  }),
  attachmentExpiryDuration: duration.default('3h').meta({
    quantity: 'duration',
    live: true,
    title: 'Keep attachments for',
    description: 'How long attachments can be downloaded. They are deleted earlier if their message expires.',
  }),
  unifiedPush: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'UnifiedPush for everyone',
      description:
        'Allows application servers without an account to publish to UnifiedPush topics, whose names are ' +
        '"up" followed by 12 characters.',
    }),
  upstreamBaseUrl: address.default('').meta({
    live: true,
    title: 'iOS upstream server',
    example: 'https://ntfy.sh',
    description:
      'Forwards a poll request for each message to iOS devices, without its content. Requires the public address.',
  }),
  upstreamAccessToken: z
    .string()
    .regex(/^(tk_[a-z0-9]{29})?$/, 'Use a token of tk_ followed by 29 characters.')
    .default('')
    .meta({
      live: true,
      needs: { upstreamBaseUrl: true },
      title: 'iOS upstream token',
      description: 'Access token for the upstream server, if it requires one.',
      secret: true,
    }),
};

export const deliveryEnvironment = {
  NTFY_BASE_URL: 'baseUrl',
  NTFY_MESSAGE_DELAY_LIMIT: 'messageDelayLimit',
  NTFY_ATTACHMENT_FILE_SIZE_LIMIT: 'attachmentFileSizeLimit',
  NTFY_ATTACHMENT_TOTAL_SIZE_LIMIT: 'attachmentTotalSizeLimit',
  NTFY_ATTACHMENT_EXPIRY_DURATION: 'attachmentExpiryDuration',
  PUSH_UNIFIED_PUSH: 'unifiedPush',
  NTFY_UPSTREAM_BASE_URL: 'upstreamBaseUrl',
  NTFY_UPSTREAM_ACCESS_TOKEN: 'upstreamAccessToken',
} as const;
