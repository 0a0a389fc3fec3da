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
    description: 'Where phones reach this server; attachments lead there. Empty: this machine only.',
  }),
  messageDelayLimit: duration.default('72h').meta({
    quantity: 'duration',
    live: true,
    title: 'Longest delay',
    description: 'How far ahead a message may be scheduled.',
  }),
  attachmentFileSizeLimit: bytes.default('15M').meta({
    quantity: 'size',
    live: true,
    title: 'Largest attachment',
    description: 'Size of one file. 0: files are not taken.',
  }),
  attachmentTotalSizeLimit: bytes.default('5G').meta({
    quantity: 'size',
    live: true,
    title: 'Attachments in all',
    description: 'Size of all files that are kept at a time.',
  }),
  attachmentExpiryDuration: duration.default('3h').meta({
    quantity: 'duration',
    live: true,
    title: 'Keep attachments for',
    description: 'How long a file can be fetched. It is removed earlier when its message expires.',
  }),
  unifiedPush: z.boolean().default(false).meta({
    live: true,
    title: 'UnifiedPush for everyone',
    description:
      'Lets application servers without an account publish to topics named up and 12 characters, as apps with UnifiedPush make them.',
  }),
  upstreamBaseUrl: address.default('').meta({
    live: true,
    title: 'Server that wakes iPhones',
    example: 'https://ntfy.sh',
    description: 'It is told that there is a message, not what it says. Needs the public address.',
  }),
  upstreamAccessToken: z
    .string()
    .regex(/^(tk_[a-z0-9]{29})?$/, 'Use a token, tk_ and 29 characters.')
    .default('')
    .meta({
      live: true,
      needs: { upstreamBaseUrl: true },
      title: 'Token for the server that wakes iPhones',
      description: 'For servers that ask for one.',
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
