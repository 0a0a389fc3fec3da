import { z } from 'zod';
import { defineHandover, defineTopic } from '../bus.ts';

export const NotificationType = z.enum(['info', 'success', 'warning', 'failure']);
export type NotificationType = z.infer<typeof NotificationType>;
export const TextFormat = z.enum(['text', 'markdown', 'html']);
export type TextFormat = z.infer<typeof TextFormat>;

/** A notice is what one part of the app, or a program outside, wants a person to know. */
export const NotificationContent = z.object({
  title: z.string().default(''),
  body: z.string(),
  type: NotificationType.default('info'),
  format: TextFormat.default('text'),
  /** What the notice is about; not the destinations' tags it is routed by. */
  tags: z.array(z.string()).default([]),
  /** An http(s) address the notice leads to. */
  link: z.string().optional(),
  /** Which program it came from, for the inbox's source filter: `mail`, `notify`, `downloads`, `uptime`, … */
  source: z.string(),
  /** How many aggregators passed it on before it came here; unset for none. So a circle has an end. */
  hops: z.int().min(0).max(1000).optional(),
});
export type NotificationContent = z.infer<typeof NotificationContent>;

/**
 * A file that goes with a notice or a push message, passed in memory. Who receives the hand-over keeps a copy of its own,
 * durably, before it resolves.
 */
export const NotificationFile = z.object({
  /** Without a path; may hold any character. */
  name: z.string(),
  /** Media type as its sender gave it. */
  type: z.string(),
  bytes: z.instanceof(Uint8Array),
});
export type NotificationFile = z.infer<typeof NotificationFile>;

/**
 * A notice to be routed by the aggregator. The handover's key is the notice's identity on its whole way: the inbox
 * keeps one row a key, whichever ways it came.
 */
export const NotificationOffer = z.object({
  /** The configuration key of the aggregator; `aggregator` is always there. */
  configuration: z.string().default('aggregator'),
  /** Tag expression as in the peer's `tag` field (comma: or, space: and); without one every destination gets it. */
  tag: z.string().optional(),
  /** Destinations in place of those of the configuration, as its lines would name them. They may hold secrets. */
  urls: z.array(z.string()).optional(),
  /** What goes with it; destinations that take no files get the text alone. */
  files: z.array(NotificationFile).optional(),
  notice: NotificationContent,
});
export type NotificationOffer = z.infer<typeof NotificationOffer>;

/** Received by notify. */
export const notificationOffered = defineHandover('notify.offer', NotificationOffer);

/** The aggregator has committed a notice and its deliveries. */
export const notificationAccepted = defineTopic(
  'notify.accepted',
  z.object({ id: z.string(), configuration: z.string(), title: z.string(), destinations: z.int() }),
);

/** Notices were accepted or their deliveries changed since the last of these; at most two a second. It names none of them. */
export const notifyActivity = defineTopic(
  'notify.worked',
  z.object({ time: z.number().describe('ms since the epoch') }),
);
