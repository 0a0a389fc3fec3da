import * as m from '#messages/push-problems';
import { z } from 'zod';
import { defineHandover, defineTopic } from '../bus.ts';
import { NotificationFile } from '../notify/notification.ts';

/** Topic name, as ntfy defines it. */
export const TopicName = z.string().regex(/^[-_A-Za-z0-9]{1,64}$/, { error: m.topicInvalid });

/** ntfy's priority: 1 (min) to 5 (max); 3 is the default. */
export const Priority = z.int().min(1).max(5);

/** Message that another service publishes. The handover's key makes it idempotent. */
export const PushOffer = z.object({
  topic: TopicName,
  title: z.string().default(''),
  message: z.string(),
  priority: Priority.optional(),
  tags: z.array(z.string()).default([]),
  click: z.string().optional(),
  markdown: z.boolean().default(false),
  /** A message has at most one file; when it cannot be stored, the message is published without it. */
  file: NotificationFile.optional(),
  /** Source program, see NotificationContent. */
  source: z.string().default('push'),
  /** Identity of the original notification, so that the inbox shows it once. */
  origin: z.string().optional(),
});
export type PushOffer = z.infer<typeof PushOffer>;

/** Received by push. */
export const pushOffered = defineHandover('push.offer', PushOffer);

/** Published when a message was committed and is being delivered to subscribers. */
export const pushPublished = defineTopic(
  'push.published',
  z.object({
    id: z.string(),
    topic: z.string(),
    title: z.string(),
    message: z.string(),
    priority: Priority,
    tags: z.array(z.string()),
    time: z.number().describe('Unix time in seconds.'),
  }),
);

/** Published when a message was dismissed or deleted on all clients. */
export const pushRetracted = defineTopic(
  'push.taken-back',
  z.object({ topic: TopicName, sequence: z.string(), how: z.enum(['cleared', 'deleted']) }),
);

/**
 * Published when messages were stored; at most twice a second. It names none of them: pages load what their account
 * may read.
 */
export const pushStored = defineTopic('push.stored', z.object({ time: z.number().describe('ms since the epoch') }), {
  shared: true,
});

/** Maximum length of a message as JSON, in characters. */
const maxRelayedLength = 100_000;

/**
 * Published when messages are delivered to subscribers, so that other hosts deliver them to theirs. `seq` is the number
 * of a stored message; other hosts read those that they did not receive from the database.
 */
export const pushRelayed = defineTopic(
  'push.relayed',
  z.object({
    messages: z.array(z.object({ seq: z.int().positive().optional(), text: z.string().max(maxRelayedLength) })),
  }),
  { shared: true },
);
