import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineHandover, defineTopic } from '../bus.ts';
import { TextFormat } from '../notify/notification.ts';
import { Priority } from '../push/topics.ts';
import type { NeededGrant } from '../route-access.ts';

/** Row of the inbox: a message that the app delivered, whether or not it was shown as a popup. */
export const InboxItem = z
  .object({
    id: z.int(),
    title: z.string(),
    body: z.string(),
    format: TextFormat,
    priority: Priority,
    tags: z.array(z.string()),
    source: z.string(),
    /** Push topic of the message; empty for other sources. */
    topic: z.string(),
    link: z.string().nullable(),
    /** Path in the app API of a picture that this host stores with the message. */
    picture: z.string().optional(),
    time: z.number().describe('ms since the epoch'),
    read: z.boolean(),
    /** Archived: hidden from the inbox, still found by search. */
    done: z.boolean(),
    /** In a list that groups repeats: number of occurrences (1,000 means at least that) and time of the first. */
    repeats: z.object({ times: z.int(), since: z.number() }).optional(),
    /** Id of the row that a new row repeats and replaces in such a list. */
    repeated: z.int().optional(),
  })
  .meta({ id: 'InboxItem' });
export type InboxItem = z.infer<typeof InboxItem>;

/** Unread rows of one push topic. */
export const UnreadTopic = z
  .object({ topic: z.string(), count: z.int(), priority: Priority.describe('Highest priority of these rows.') })
  .meta({ id: 'InboxUnreadTopic' });
export type UnreadTopic = z.infer<typeof UnreadTopic>;

/** Path of a picture in the app API; pages load pictures only from this host. */
const PicturePath = z.string().regex(/^\/api\/[\w/.%-]{1,300}$/);

/** Message offered to the inbox. The handover's key is the identity of the notification; a known key is ignored. */
export const InboxOffer = z.object({
  title: z.string().default(''),
  body: z.string(),
  format: TextFormat.default('text'),
  priority: Priority.default(3),
  tags: z.array(z.string()).default([]),
  source: z.string(),
  topic: z.string().default(''),
  link: z.string().optional(),
  picture: PicturePath.optional(),
  time: z.number(),
});
export type InboxOffer = z.infer<typeof InboxOffer>;

/** Received by inbox. */
export const inboxOffered = defineHandover('inbox.offer', InboxOffer);

/** Rows that the user at the screen has read; received by inbox. Idempotent. */
export const inboxRead = defineHandover('inbox.read', z.object({ ids: z.array(z.int()) }));

/** Published when an item was stored in the inbox. */
export const inboxAdded = defineTopic('inbox.added', InboxItem, { shared: true });
/** Published when rows changed or were deleted; pages apply the change and reload the counts. */
export const inboxChanged = defineTopic(
  'inbox.changed',
  z.object({
    ids: z.array(z.int()),
    change: z.object({ read: z.boolean().optional(), done: z.boolean().optional(), removed: z.boolean().optional() }),
    unread: z.int().nullable().describe('Number of all unread rows. Null for users who cannot see all rows.'),
    /** The same rows by origin, which determines the accounts that receive the event. */
    places: z.array(z.object({ topic: z.string(), source: z.string(), ids: z.array(z.int()) })).optional(),
  }),
  { shared: true },
);
export type InboxChanged = z.infer<typeof inboxChanged.schema>;

/** Origin of a row: its push topic or, without one, its source. */
export type InboxOrigin = Pick<InboxItem, 'topic' | 'source'>;

/**
 * Returns the grant required for a row: for its push topic, or on the inbox for its source. Marking requires read
 * access, deleting requires write access.
 */
export function getInboxGrant({ topic, source }: InboxOrigin, permission: NeededGrant['permission']): NeededGrant {
  return topic === ''
    ? { service: 'inbox', permission, resource: source }
    : { service: 'push', permission, resource: topic };
}

/** Published when rows, or offers under these keys, were read, archived or deleted; at most 1000 rows at a time. */
export const inboxSeen = defineTopic('inbox.seen', z.object({ keys: z.array(z.string()), ids: z.array(z.int()) }), {
  shared: true,
});

/** Routes of the inbox. */
export const inboxApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/inbox',
    summary: 'Lists the rows that the caller can read, newest first. For the next page, set `before` to the last ID.',
    access: 'objects',
    query: z.object({
      before: z.coerce.number().int().optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
      /** Words that title or body must contain, the last one as a prefix; quoted words must be adjacent. */
      q: z.string().optional(),
      source: z.string().optional(),
      topic: z.string().optional().describe('Returns only the rows of this push topic.'),
      tag: z.string().optional(),
      minPriority: z.coerce.number().int().min(1).max(5).optional(),
      unread: z.stringbool().optional(),
      done: z.stringbool().optional(),
      repeats: z
        .enum(['newest'])
        .optional()
        .describe('Returns only the newest of several repeated messages. Ignored in searches and with `unread`.'),
      repeatsOf: z.coerce.number().int().optional().describe('Returns the earlier messages that this row repeats.'),
    }),
    reply: z.object({ items: z.array(InboxItem), unread: z.int(), total: z.int(), sources: z.array(z.string()) }),
  }),
  find: defineRoute({
    method: 'GET',
    path: '/api/inbox/search',
    summary:
      'Searches for the newest rows that contain these words, including archived ones. Unlike the list, it does ' +
      'not count the results, so it is fast enough for searching while typing.',
    access: 'objects',
    query: z.object({ q: z.string(), limit: z.coerce.number().int().min(1).max(50).default(6) }),
    reply: z.object({ items: z.array(InboxItem) }),
  }),
  unreadTopics: defineRoute({
    method: 'GET',
    path: '/api/inbox/unread-topics',
    summary:
      'Lists the push topics with unread rows that the caller can read, with the number and the highest ' +
      'priority of these rows.',
    access: 'objects',
    reply: z.object({ topics: z.array(UnreadTopic) }),
  }),
  one: defineRoute({
    method: 'GET',
    path: '/api/inbox/:id',
    summary: 'Returns one row, including an archived one. Returns 404 `inbox.unknown` if it does not exist.',
    access: 'objects',
    reply: InboxItem,
  }),
  change: defineRoute({
    method: 'PATCH',
    path: '/api/inbox',
    summary: 'Marks rows as read, unread, archived or not archived. `all` includes every row that the caller can read.',
    access: 'objects',
    body: z.object({
      ids: z.union([z.literal('all'), z.array(z.int()).min(1).max(1000)]),
      topic: z.string().min(1).optional().describe('With `all`, includes only the rows of this push topic.'),
      read: z.boolean().optional(),
      done: z.boolean().optional(),
      repeats: z.literal(true).optional().describe('Also includes the earlier messages that these rows repeat.'),
      undoable: z.literal(true).optional().describe('Returns the number of the change, which is needed to undo it.'),
    }),
    reply: z.object({
      changed: z.int(),
      unread: z.int(),
      change: z.int().optional().describe('Number of the change, with which it can be undone.'),
    }),
  }),
  undo: defineRoute({
    method: 'POST',
    path: '/api/inbox/undo',
    summary: 'Undoes a change. Rows that have been changed again since then keep their state.',
    access: 'objects',
    body: z.object({ change: z.int() }),
    reply: z.object({ changed: z.int(), unread: z.int() }),
  }),
  remove: defineRoute({
    method: 'POST',
    path: '/api/inbox/remove',
    summary: 'Permanently deletes rows. Requires write access to their topic or source.',
    access: 'objects',
    body: z.object({
      ids: z.array(z.int()).min(1).max(1000),
      repeats: z.literal(true).optional().describe('Also deletes the earlier messages that these rows repeat.'),
    }),
    reply: z.object({ removed: z.int(), unread: z.int() }),
  }),
};
