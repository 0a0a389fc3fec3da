import { z } from 'zod';
import { defineHandover, defineTopic } from '../bus.ts';

export const NoticeType = z.enum(['info', 'success', 'warning', 'failure']);
export type NoticeType = z.infer<typeof NoticeType>;
export const TextFormat = z.enum(['text', 'markdown', 'html']);
export type TextFormat = z.infer<typeof TextFormat>;

/** A notice is what one part of the app, or a program outside, wants a person to know. */
export const Notice = z.object({
  title: z.string().default(''),
  body: z.string(),
  type: NoticeType.default('info'),
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
export type Notice = z.infer<typeof Notice>;

/**
 * A file that goes with a notice or a push message, passed in memory. Who receives the hand-over keeps a copy of its own,
 * durably, before it resolves.
 */
export const NoticeFile = z.object({
  /** Without a path; may hold any character. */
  name: z.string(),
  /** Media type as its sender gave it. */
  type: z.string(),
  bytes: z.instanceof(Uint8Array),
});
export type NoticeFile = z.infer<typeof NoticeFile>;

/**
 * A notice to be routed by the aggregator. The handover's key is the notice's identity on its whole way: the inbox
 * keeps one row a key, whichever ways it came.
 */
export const NoticeOffer = z.object({
  /** The configuration key of the aggregator; `aggregator` is always there. */
  configuration: z.string().default('aggregator'),
  /** Tag expression as in the peer's `tag` field (comma: or, space: and); without one every destination gets it. */
  tag: z.string().optional(),
  /** Destinations in place of those of the configuration, as its lines would name them. They may hold secrets. */
  urls: z.array(z.string()).optional(),
  /** What goes with it; destinations that take no files get the text alone. */
  files: z.array(NoticeFile).optional(),
  notice: Notice,
});
export type NoticeOffer = z.infer<typeof NoticeOffer>;

/** Received by notify. */
export const noticeOffered = defineHandover('notify.offer', NoticeOffer);

/** The aggregator has committed a notice and its deliveries. */
export const noticeAccepted = defineTopic(
  'notify.accepted',
  z.object({ id: z.string(), configuration: z.string(), title: z.string(), destinations: z.int() }),
);

/** Notices were accepted or their deliveries changed since the last of these; at most two a second. It names none of them. */
export const notifyWorked = defineTopic('notify.worked', z.object({ time: z.number().describe('ms since the epoch') }));
