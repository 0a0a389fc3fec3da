import * as m from '#messages/push-problems';
import { z } from 'zod';
import { defineRoute, fileReply } from '../api.ts';
import { Priority, TopicName } from './topics.ts';
import { mayRead, mayWrite } from '../route-access.ts';

const done = z.object({ ok: z.literal(true) });

/** Topic with recent messages. */
export const PushTopic = z
  .object({
    name: z.string(),
    /** Number of stored messages. */
    messages: z.int(),
    latest: z.number().describe('ms since the epoch'),
    /** Title of the latest message, or the beginning of its text. */
    line: z.string(),
    mayPublish: z.boolean(),
  })
  .meta({ id: 'PushTopic' });
export type PushTopic = z.infer<typeof PushTopic>;

/** Button of a message. */
export const PushAction = z
  .object({
    /** `view` opens an address; `http` is a request sent by the displaying device; `broadcast` is for apps only. */
    kind: z.enum(['view', 'http', 'broadcast', 'copy']),
    label: z.string(),
    /** For `view` and `http`. */
    url: z.string().nullable(),
    /** For `http`. */
    method: z.string(),
    /** Text that `copy` puts into the clipboard. */
    value: z.string(),
  })
  .meta({ id: 'PushAction' });
export type PushAction = z.infer<typeof PushAction>;

/** File of a message: stored by this server, or the address of an external file. */
export const PushFile = z
  .object({
    name: z.string(),
    url: z.string(),
    /**
     * Stored by this server; the page reads it from its own address, see `file`. The fields below are known only for
     * stored files.
     */
    kept: z.boolean(),
    type: z.string().nullable(),
    /** Size in bytes. */
    size: z.int().nullable(),
    /** Time of deletion, ms since the epoch. */
    expires: z.number().nullable(),
  })
  .meta({ id: 'PushFile' });
export type PushFile = z.infer<typeof PushFile>;

/** Message as the app's page shows it; subscribers get the format of ntfy. */
export const PushMessage = z
  .object({
    id: z.string(),
    /** Increases with each stored message. */
    seq: z.int(),
    /** Id by which later messages update, clear or delete it: that of its sequence, or its own. */
    sequence: z.string(),
    /** Dismissed on all clients. */
    cleared: z.boolean(),
    topic: z.string(),
    title: z.string(),
    message: z.string(),
    markdown: z.boolean(),
    priority: Priority,
    tags: z.array(z.string()),
    click: z.string().nullable(),
    /** Address of an image. */
    icon: z.string().nullable(),
    actions: z.array(PushAction),
    attachment: PushFile.nullable(),
    time: z.number().describe('ms since the epoch'),
  })
  .meta({ id: 'PushMessage' });
export type PushMessage = z.infer<typeof PushMessage>;

/** Activity of a topic in the last days. */
export const TopicStatistics = z
  .object({
    name: z.string(),
    /** Messages per day. */
    published: z.array(z.int()),
    /** Web push deliveries. */
    sent: z.int(),
    failed: z.int(),
    /** Time of the latest message, ms since the epoch. */
    latest: z.number().nullable(),
    /** Number of open streams. */
    listening: z.int(),
  })
  .meta({ id: 'TopicStatistics' });
export type TopicStatistics = z.infer<typeof TopicStatistics>;

/** Button as the form defines it. */
const WrittenAction = z.object({
  kind: z.enum(['view', 'http']),
  label: z.string().trim().min(1, { error: m.buttonLabelMissing }).max(100),
  url: z.url({ protocol: /^https?$/, error: m.urlInvalid }),
  /** For `http`. */
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST'),
  body: z.string().max(2000).default(''),
  /** Dismisses the notification when the button was pressed. */
  clear: z.boolean().default(false),
});
export type WrittenAction = z.infer<typeof WrittenAction>;

/** Uploaded file that is not attached to a message yet; deleted after an hour. */
export const PushUpload = z
  .object({
    /** Id for the message's `file`. */
    id: z.string(),
    name: z.string(),
    type: z.string(),
    /** Size in bytes. */
    size: z.int(),
  })
  .meta({ id: 'PushUpload' });
export type PushUpload = z.infer<typeof PushUpload>;

/** Routes for push topics. They require the same grants as the protocol of the peer. */
export const pushApi = {
  topics: defineRoute({
    method: 'GET',
    path: '/api/push/topics',
    summary: 'Lists up to 500 topics with readable messages, ordered by their newest message.',
    access: 'objects',
    reply: z.object({ topics: z.array(PushTopic) }),
  }),
  messages: defineRoute({
    method: 'GET',
    path: '/api/push/topics/:topic/messages',
    summary:
      'Lists the messages of a topic, newest first. For the next page, set `before` to `next`. Only the latest ' +
      'version of an updated message is returned, and deleted messages are omitted. A page can therefore ' +
      'contain fewer messages than requested, or none, even if there is a next page.',
    access: mayRead('push', ':topic'),
    query: z.object({
      before: z.coerce.number().int().optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
      /** Words that title, text or tags must all contain. */
      words: z.string().max(200).default(''),
      /** Minimum priority. */
      priority: z.coerce.number().pipe(Priority).default(1),
      tag: z.string().max(100).default(''),
    }),
    reply: z.object({
      messages: z.array(PushMessage),
      /** Sequences that were dismissed or deleted within the examined range: older pages may show their messages. */
      cleared: z.array(z.string()),
      deleted: z.array(z.string()),
      /** Cursor of the next page; null at the end. */
      next: z.int().nullable(),
      mayPublish: z.boolean(),
      /** Permissions without an account. */
      anyone: z.object({ reads: z.boolean(), publishes: z.boolean() }),
    }),
  }),
  file: defineRoute({
    method: 'GET',
    path: '/api/push/topics/:topic/files/:id',
    summary:
      'Returns the file of the message with this ID. Images can be displayed; all other files are sent as ' +
      'downloads.',
    access: mayRead('push', ':topic'),
    query: z.object({ save: z.stringbool().default(false) }),
    reply: fileReply,
  }),
  clear: defineRoute({
    method: 'POST',
    path: '/api/push/topics/:topic/sequences/:sequence/clear',
    summary: 'Dismisses a message in all clients: they remove its notification and mark it as read.',
    access: mayWrite('push', ':topic'),
    reply: done,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/push/topics/:topic/sequences/:sequence',
    summary: 'Deletes a message in all clients.',
    access: mayWrite('push', ':topic'),
    reply: done,
  }),
  limits: defineRoute({
    method: 'GET',
    path: '/api/push/limits',
    summary: 'Returns the limits for messages.',
    access: 'user',
    reply: z.object({
      /** Maximum length of a message's text in bytes. */
      message: z.int(),
      /** Maximum size of a file in bytes; 0 disables files. */
      file: z.int(),
      /** Maximum time for which a file is stored, in seconds. */
      fileSeconds: z.int(),
      /** Maximum delay of a message in seconds. */
      delaySeconds: z.int(),
    }),
  }),
  upload: defineRoute({
    method: 'POST',
    path: '/api/push/topics/:topic/files',
    summary: 'Uploads a file for a message that is published within an hour. The request body is the file.',
    access: mayWrite('push', ':topic'),
    query: z.object({ name: z.string().max(255).default('') }),
    bytes: true,
    reply: PushUpload,
  }),
  publish: defineRoute({
    method: 'POST',
    path: '/api/push/messages',
    summary: 'Publishes a message in the same way as an ntfy client.',
    access: 'objects',
    body: z.object({
      topic: TopicName,
      title: z.string().max(250).default(''),
      /** May be empty with a file. */
      message: z.string().max(16_384).default(''),
      priority: Priority.default(3),
      tags: z.array(z.string().min(1).max(100)).max(50).default([]),
      click: z.url({ protocol: /^https?$/, error: m.urlInvalid }).optional(),
      markdown: z.boolean().default(false),
      actions: z.array(WrittenAction).max(3, { error: m.tooManyButtons }).default([]),
      /** Id of an upload. */
      file: z.string().max(64).optional(),
      /** Address of an external file; it is passed on without being fetched. */
      attach: z.url({ protocol: /^https?$/, error: m.urlInvalid }).optional(),
      /** File name that replaces the original one. */
      filename: z.string().max(255).default(''),
      /** Delivery time as in ntfy: `30m`, `tomorrow, 10am`, a unix time. Empty for immediate delivery. */
      delay: z.string().max(100).default(''),
    }),
    reply: PushMessage,
  }),
  statistics: defineRoute({
    method: 'GET',
    path: '/api/push/statistics',
    summary: 'Returns the number of published messages and of open streams.',
    access: 'user',
    reply: z.object({
      /** Total number of published messages. */
      total: z.int(),
      /** Messages since midnight, local time. */
      today: z.int(),
      /** Messages per second over the last ten minutes. */
      rate: z.number(),
      /** Number of open streams. */
      listening: z.int(),
    }),
  }),
  topicStatistics: defineRoute({
    method: 'GET',
    path: '/api/push/statistics/topics',
    summary:
      'Returns the number of messages per topic over the last seven days, busiest topic first, or for one topic ' +
      'only.',
    access: 'objects',
    query: z.object({ topic: z.string().optional() }),
    reply: z.object({
      /** Local days such as `2026-11-21`, today last. */
      days: z.array(z.string()),
      topics: z.array(TopicStatistics),
      /** Messages of these topics on the seven days before, one number for each of `days`. */
      previous: z.array(z.int()),
    }),
  }),
  hours: defineRoute({
    method: 'GET',
    path: '/api/push/statistics/hours',
    summary:
      'Returns the number of messages in the last 24 hours by priority, for all topics that the caller can ' +
      'read. Messages that are no longer stored are included.',
    access: 'objects',
    reply: z.object({
      /** The current hour last. */
      hours: z.array(
        z.object({
          at: z.number().describe('Start of the hour, in ms since the epoch.'),
          /** Messages with priority 1 or 2; the other fields count priority 3, 4 and 5. */
          low: z.int(),
          normal: z.int(),
          high: z.int(),
          urgent: z.int(),
        }),
      ),
      /** Messages of the same hours a day earlier, of all priorities. */
      previous: z.array(z.int()),
    }),
  }),
};
