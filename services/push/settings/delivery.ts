import * as m from '#messages/push-settings';
import { z } from 'zod';
import { parseBytes } from '../domain/bytes.ts';
import { parseDuration } from '../domain/duration.ts';

const bytes = z.string().refine((text) => parseBytes(text) !== undefined, { error: m.sizeInvalid });
const duration = z.string().refine((text) => (parseDuration(text) ?? 0) >= 60_000, { error: m.expiryInvalid });
const address = z.string().regex(/^(https?:\/\/[^\s/?#]+(\/[^\s?#]*[^\s/?#])?)?$/, { error: m.addressInvalid });

/** Settings for the public address, delayed messages and attachments. */
export const deliveryFields = {
  baseUrl: address.default('').meta({
    live: true,
    label: m.baseUrl,
    example: 'https://push.home.lan',
    help: m.baseUrlHelp,
  }),
  messageDelayLimit: duration.default('72h').meta({
    quantity: 'duration',
    live: true,
    label: m.messageDelayLimit,
    help: m.messageDelayLimitHelp,
  }),
  attachmentFileSizeLimit: bytes.default('15M').meta({
    quantity: 'size',
    live: true,
    label: m.attachmentFileSizeLimit,
    help: m.attachmentFileSizeLimitHelp,
  }),
  attachmentTotalSizeLimit: bytes.default('5G').meta({
    quantity: 'size',
    live: true,
    label: m.attachmentTotalSizeLimit,
    help: m.attachmentTotalSizeLimitHelp,
  }),
  attachmentExpiryDuration: duration.default('3h').meta({
    quantity: 'duration',
    live: true,
    label: m.attachmentExpiryDuration,
    help: m.attachmentExpiryDurationHelp,
  }),
  unifiedPush: z.boolean().default(false).meta({
    live: true,
    label: m.unifiedPush,
    help: m.unifiedPushHelp,
  }),
  upstreamBaseUrl: address.default('').meta({
    live: true,
    label: m.upstreamBaseUrl,
    example: 'https://ntfy.sh',
    help: m.upstreamBaseUrlHelp,
  }),
  upstreamAccessToken: z
    .string()
    .regex(/^(tk_[a-z0-9]{29})?$/, { error: m.upstreamAccessTokenInvalid })
    .default('')
    .meta({
      live: true,
      needs: { upstreamBaseUrl: true },
      label: m.upstreamAccessToken,
      help: m.upstreamAccessTokenHelp,
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
