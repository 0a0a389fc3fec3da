import { z } from 'zod';
import { defineHandover, defineTopic } from '../bus.ts';
import { NotificationFile } from '../notify/notification.ts';

/** Topic names as the push peer defines them. */
export const TopicName = z.string().regex(/^[-_A-Za-z0-9]{1,64}$/, 'Use letters, digits, - and _ only, 64 at most.');

export const Priority = z.int().min(1).max(5);

/** A message to be published without going through HTTP. The handover's key makes it idempotent. */
export const PushOffer = z.object({
  topic: TopicName,
  title: z.string().default(''),
  message: z.string(),
  priority: Priority.optional(),
  tags: z.array(z.string()).default([]),
  click: z.string().optional(),
  markdown: z.boolean().default(false),
  /** The one file a message can carry; without room for it the message comes alone. */
  file: NotificationFile.optional(),
  /** Which program it came from, see Notice. */
  source: z.string().default('push'),
  /** Identity of the notice that led here, so that the inbox shows it once. */
  origin: z.string().optional(),
});
export type PushOffer = z.infer<typeof PushOffer>;

/** Received by push. */
export const pushOffered = defineHandover('push.offer', PushOffer);

/** A message was committed and is on its way to the subscribers. */
export const pushPublished = defineTopic(
  'push.published',
  z.object({
    id: z.string(),
    topic: z.string(),
    title: z.string(),
    message: z.string(),
    priority: Priority,
    tags: z.array(z.string()),
    time: z.number().describe('unix seconds'),
  }),
);

/** A message was put away or deleted at all clients. */
export const pushRetracted = defineTopic(
  'push.taken-back',
  z.object({ topic: TopicName, sequence: z.string(), how: z.enum(['cleared', 'deleted']) }),
);

/**
 * Messages were stored since the last of these; at most two a second. It names none of them: a page reads what its person may
 * read.
 */
export const pushStored = defineTopic('push.stored', z.object({ time: z.number().describe('ms since the epoch') }));
