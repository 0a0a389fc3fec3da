import { z } from 'zod';
import { defineHandover, defineTopic } from '../bus.ts';

/** Type of a notification, as in Apprise. */
export const NotificationType = z.enum(['info', 'success', 'warning', 'failure']);
export type NotificationType = z.infer<typeof NotificationType>;

/** Format of a notification body, as in Apprise. */
export const TextFormat = z.enum(['text', 'markdown', 'html']);
export type TextFormat = z.infer<typeof TextFormat>;

/** Notification from a part of the app or from another program. */
export const NotificationContent = z.object({
  title: z.string().default(''),
  body: z.string(),
  type: NotificationType.default('info'),
  format: TextFormat.default('text'),
  /** Subject tags; unlike the tags of destinations, they are not used for routing. */
  tags: z.array(z.string()).default([]),
  /** Linked http(s) address. */
  link: z.string().optional(),
  /** Source program, for the inbox's filter: `mail`, `notify`, `downloads`, `uptime`, … */
  source: z.string(),
  /** Number of aggregators that forwarded it; unset for none. Prevents endless loops. */
  hops: z.int().min(0).max(1000).optional(),
});
export type NotificationContent = z.infer<typeof NotificationContent>;

/**
 * File of a notification or push message, passed in memory. The receiver of the handover stores its own copy before
 * it resolves.
 */
export const NotificationFile = z.object({
  /** File name without path; may contain any character. */
  name: z.string(),
  /** Media type as the sender declared it. */
  type: z.string(),
  bytes: z.instanceof(Uint8Array),
});
export type NotificationFile = z.infer<typeof NotificationFile>;

/**
 * Notification to be routed by the aggregator. The handover's key identifies the notification on all routes: the
 * inbox stores one row per key.
 */
export const NotificationOffer = z.object({
  /** Configuration key of the aggregator; `aggregator` always exists. */
  configuration: z.string().default('aggregator'),
  /**
   * Tag expression as in the peer's `tag` field (comma: or, space: and); without one, all destinations are selected.
   */
  tag: z.string().optional(),
  /** Destinations in place of those of the configuration, in the same format. They may contain secrets. */
  urls: z.array(z.string()).optional(),
  /** Attachments; destinations that do not support files get the text only. */
  files: z.array(NotificationFile).optional(),
  notice: NotificationContent,
});
export type NotificationOffer = z.infer<typeof NotificationOffer>;

/** Received by notify. */
export const notificationOffered = defineHandover('notify.offer', NotificationOffer);

/** Published when the aggregator has committed a notification and its deliveries. */
export const notificationAccepted = defineTopic(
  'notify.accepted',
  z.object({ id: z.string(), configuration: z.string(), title: z.string(), destinations: z.int() }),
);

/**
 * Published when notifications were accepted or their deliveries changed; at most twice a second, without naming
 * them.
 */
export const notifyActivity = defineTopic(
  'notify.worked',
  z.object({ time: z.number().describe('ms since the epoch') }),
  { shared: true },
);
