import { z } from 'zod';
import { defineRoute, fileReply } from '../api.ts';
import { Priority, TopicName } from './topics.ts';
import { mayRead, mayWrite } from '../route-access.ts';

const done = z.object({ ok: z.literal(true) });

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

/** A button of a message. */
export const PushAction = z
  .object({
    /** `view` opens an address; `http` is a request that the device sends which shows the message; `broadcast` is for apps alone. */
    kind: z.enum(['view', 'http', 'broadcast', 'copy']),
    label: z.string(),
    /** Of `view` and `http`. */
    url: z.string().nullable(),
    /** Of `http`. */
    method: z.string(),
    /** What `copy` puts into the clipboard. */
    value: z.string(),
  })
  .meta({ id: 'PushAction' });
export type PushAction = z.infer<typeof PushAction>;

/** A file of a message: one that this server keeps, or the address of one elsewhere. */
export const PushFile = z
  .object({
    name: z.string(),
    url: z.string(),
    /** Kept here: the page gets it from its own address, see `file`. What follows is known of these alone. */
    kept: z.boolean(),
    type: z.string().nullable(),
    /** Bytes. */
    size: z.int().nullable(),
    /** When it goes, in ms since the epoch. */
    expires: z.number().nullable(),
  })
  .meta({ id: 'PushFile' });
export type PushFile = z.infer<typeof PushFile>;

/** A message as our own page shows it; subscribers get the peer's shape. */
export const PushMessage = z
  .object({
    id: z.string(),
    /** Grows with each message that is stored. */
    seq: z.int(),
    /** What later messages update, clear or delete it by: the id of its sequence, its own where it has none. */
    sequence: z.string(),
    /** Someone has put it away at all clients. */
    cleared: z.boolean(),
    topic: z.string(),
    title: z.string(),
    message: z.string(),
    markdown: z.boolean(),
    priority: Priority,
    tags: z.array(z.string()),
    click: z.string().nullable(),
    /** Address of a picture. */
    icon: z.string().nullable(),
    actions: z.array(PushAction),
    attachment: PushFile.nullable(),
    time: z.number().describe('ms since the epoch'),
  })
  .meta({ id: 'PushMessage' });
export type PushMessage = z.infer<typeof PushMessage>;

/** How much came of a topic in the last days. */
export const TopicStatistics = z
  .object({
    name: z.string(),
    /** Messages on each day. */
    published: z.array(z.int()),
    /** Deliveries to browsers whose page was closed. */
    sent: z.int(),
    failed: z.int(),
    /** The last message, in ms since the epoch. */
    latest: z.number().nullable(),
    /** Streams that are open now. */
    listening: z.int(),
  })
  .meta({ id: 'TopicStatistics' });
export type TopicStatistics = z.infer<typeof TopicStatistics>;

/** A button as a person writes it. */
const WrittenAction = z.object({
  kind: z.enum(['view', 'http']),
  label: z.string().trim().min(1, 'Write what the button says.').max(100),
  url: z.url({ protocol: /^https?$/, error: 'Use an address that begins with https:// or http://.' }),
  /** Of `http`. */
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST'),
  body: z.string().max(2000).default(''),
  /** Takes the notification away once it was pressed. */
  clear: z.boolean().default(false),
});
export type WrittenAction = z.infer<typeof WrittenAction>;

/** A file that waits for its message; after an hour it is gone. */
export const PushUpload = z
  .object({
    /** What a message names it by. */
    id: z.string(),
    name: z.string(),
    type: z.string(),
    /** Bytes. */
    size: z.int(),
  })
  .meta({ id: 'PushUpload' });
export type PushUpload = z.infer<typeof PushUpload>;

/** Our own API around push topics. Each route asks for the grants that a client would need. */
export const pushApi = {
  topics: defineRoute({
    method: 'GET',
    path: '/api/push/topics',
    summary: 'Topics with messages that can still be read, the one with the newest message first; 500 at most.',
    access: 'objects',
    reply: z.object({ topics: z.array(PushTopic) }),
  }),
  messages: defineRoute({
    method: 'GET',
    path: '/api/push/topics/:topic/messages',
    summary:
      'Messages of a topic, newest first; page on with `before` set to `next`. Of messages that update each other there is the latest one alone, and none that was deleted, so that a page may hold fewer than asked for, even none, and still have a next.',
    access: mayRead('push', ':topic'),
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
      /** Sequences that were put away or deleted by what was looked through: older pages may hold their messages. */
      cleared: z.array(z.string()),
      deleted: z.array(z.string()),
      /** What to page on with; null at the end. */
      next: z.int().nullable(),
      mayPublish: z.boolean(),
      /** What needs no account. */
      anyone: z.object({ reads: z.boolean(), publishes: z.boolean() }),
    }),
  }),
  file: defineRoute({
    method: 'GET',
    path: '/api/push/topics/:topic/files/:id',
    summary: 'The file of the message with this id. Pictures can be shown, everything else is to be saved.',
    access: mayRead('push', ':topic'),
    query: z.object({ save: z.stringbool().default(false) }),
    reply: fileReply,
  }),
  clear: defineRoute({
    method: 'POST',
    path: '/api/push/topics/:topic/sequences/:sequence/clear',
    summary: 'Puts a message away at all clients: they take its notification back and count it as read.',
    access: mayWrite('push', ':topic'),
    reply: done,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/push/topics/:topic/sequences/:sequence',
    summary: 'Deletes a message at all clients.',
    access: mayWrite('push', ':topic'),
    reply: done,
  }),
  limits: defineRoute({
    method: 'GET',
    path: '/api/push/limits',
    summary: 'What a message may be.',
    access: 'user',
    reply: z.object({
      /** Bytes of a message’s text. */
      message: z.int(),
      /** Bytes of a file; 0: no files are kept. */
      file: z.int(),
      /** How long a file is kept at most, in s. */
      fileSeconds: z.int(),
      /** How long a message may be put off, in s. */
      delaySeconds: z.int(),
    }),
  }),
  upload: defineRoute({
    method: 'POST',
    path: '/api/push/topics/:topic/files',
    summary: 'Takes in a file, sent as it is, for a message that is published within an hour.',
    access: mayWrite('push', ':topic'),
    query: z.object({ name: z.string().max(255).default('') }),
    bytes: true,
    reply: PushUpload,
  }),
  publish: defineRoute({
    method: 'POST',
    path: '/api/push/messages',
    summary: 'Publishes a message, as a client of the push server would.',
    access: 'objects',
    body: z.object({
      topic: TopicName,
      title: z.string().max(250).default(''),
      /** May be empty beside a file. */
      message: z.string().max(16_384).default(''),
      priority: Priority.default(3),
      tags: z.array(z.string().min(1).max(100)).max(50).default([]),
      click: z.url({ protocol: /^https?$/, error: 'Use an address that begins with https:// or http://.' }).optional(),
      markdown: z.boolean().default(false),
      actions: z.array(WrittenAction).max(3, 'Three buttons at most.').default([]),
      /** The id of an upload. */
      file: z.string().max(64).optional(),
      /** The address of a file elsewhere; it is passed on, not fetched. */
      attach: z.url({ protocol: /^https?$/, error: 'Use an address that begins with https:// or http://.' }).optional(),
      /** How the file is called, where not by its own name. */
      filename: z.string().max(255).default(''),
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
  topicStatistics: defineRoute({
    method: 'GET',
    path: '/api/push/statistics/topics',
    summary: 'What came of the topics in the last seven days, the busiest first; of one topic where it is named.',
    access: 'objects',
    query: z.object({ topic: z.string().optional() }),
    reply: z.object({
      /** Local days such as `2026-11-21`, today last. */
      days: z.array(z.string()),
      topics: z.array(TopicStatistics),
    }),
  }),
  hours: defineRoute({
    method: 'GET',
    path: '/api/push/statistics/hours',
    summary:
      'Messages of the last 24 hours, also those that are not kept any more, of all topics the person may read, by priority.',
    access: 'objects',
    reply: z.object({
      /** The current hour last. */
      hours: z.array(
        z.object({
          at: z.number().describe('its first moment, ms since the epoch'),
          /** Priority 1 or 2, 3, 4, 5. */
          low: z.int(),
          normal: z.int(),
          high: z.int(),
          urgent: z.int(),
        }),
      ),
    }),
  }),
};
