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
    /** The newest message: its title, or the beginning of its text. */
    line: z.string(),
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
    /** Buttons that lead to an address; those that only an app can carry out are left out. */
    actions: z.array(z.object({ label: z.string(), url: z.string() })),
    attachment: z.object({ name: z.string(), url: z.string() }).nullable(),
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
    summary:
      'Messages of a topic, newest first; page on with `before` set to `next`. With a filter a page may hold fewer than asked for, even none, and still have a next.',
    access: 'user',
    query: z.object({
      before: z.coerce.number().int().optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
      /** Words that title, text or tags have, all of them. */
      words: z.string().max(200).default(''),
      /** This priority or a higher one. */
      priority: z.coerce.number().pipe(Priority).default(1),
      tag: z.string().max(100).default(''),
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
      /** When to deliver it, as the peer's clients write it: `30m`, `tomorrow, 10am`, a unix time. Empty: now. */
      delay: z.string().max(100).default(''),
    }),
    reply: PushMessage,
  }),
  statistics: defineRoute({
    method: 'GET',
    path: '/api/push/statistics',
    summary: 'How much is published, and how many listen.',
    access: 'user',
    reply: z.object({
      /** Messages ever published. */
      total: z.int(),
      /** Since midnight, local time. */
      today: z.int(),
      /** Messages a second over the last ten minutes. */
      rate: z.number(),
      /** Streams that are open now. */
      listening: z.int(),
    }),
  }),
};
