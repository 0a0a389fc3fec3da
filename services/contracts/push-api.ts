import { z } from 'zod';
import { defineRoute } from './api.ts';
import { Priority, TopicName } from './push.ts';

/** A topic that messages were published to lately. */
export const PushTopic = z
  .object({
    name: z.string(),
    /** Messages that can still be read. */
    messages: z.int(),
    latest: z.number().describe('ms since the epoch'),
    mayPublish: z.boolean(),
  })
  .meta({ id: 'PushTopic' });
export type PushTopic = z.infer<typeof PushTopic>;

/** A message as our own page shows it; subscribers get the peer's shape. */
export const PushMessage = z
  .object({
    id: z.string(),
    /** Grows with each message that is stored. */
    seq: z.int(),
    topic: z.string(),
    title: z.string(),
    message: z.string(),
    markdown: z.boolean(),
    priority: Priority,
    tags: z.array(z.string()),
    click: z.string().nullable(),
    time: z.number().describe('ms since the epoch'),
  })
  .meta({ id: 'PushMessage' });
export type PushMessage = z.infer<typeof PushMessage>;

/** Our own API around push topics. Each route asks for the grants that a client would need. */
export const pushApi = {
  topics: defineRoute({
    method: 'GET',
    path: '/api/push/topics',
    summary: 'Topics with messages that can still be read, the one with the newest message first; 500 at most.',
    access: 'user',
    reply: z.object({ topics: z.array(PushTopic) }),
  }),
  messages: defineRoute({
    method: 'GET',
    path: '/api/push/topics/:topic/messages',
    summary: 'Messages of a topic, newest first; page on with `before` set to `next`.',
    access: 'user',
    query: z.object({
      before: z.coerce.number().int().optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
    }),
    reply: z.object({
      messages: z.array(PushMessage),
      /** What to page on with; null at the end. */
      next: z.int().nullable(),
      mayPublish: z.boolean(),
      /** What needs no account. */
      anyone: z.object({ reads: z.boolean(), publishes: z.boolean() }),
    }),
  }),
  publish: defineRoute({
    method: 'POST',
    path: '/api/push/messages',
    summary: 'Publishes a message, as a client of the push server would.',
    access: 'user',
    body: z.object({
      topic: TopicName,
      title: z.string().max(250).default(''),
      message: z.string().min(1, 'Write a message.').max(16_384),
      priority: Priority.default(3),
      tags: z.array(z.string().min(1).max(100)).max(50).default([]),
      click: z.url({ protocol: /^https?$/, error: 'Use an address that begins with https:// or http://.' }).optional(),
      markdown: z.boolean().default(false),
    }),
    reply: PushMessage,
  }),
};
