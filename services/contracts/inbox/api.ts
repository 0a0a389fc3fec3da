import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineHandover, defineTopic } from '../bus.ts';
import { TextFormat } from '../notify/notice.ts';
import { Priority } from '../push/topics.ts';
import type { NeededGrant } from '../route-access.ts';

/** One row of the inbox: everything the app ever told its person, shown natively or not. */
export const InboxItem = z
  .object({
    id: z.int(),
    title: z.string(),
    body: z.string(),
    format: TextFormat,
    priority: Priority,
    tags: z.array(z.string()),
    source: z.string(),
    /** Push topic it came through; empty when it came another way. */
    topic: z.string(),
    link: z.string().nullable(),
    time: z.number().describe('ms since the epoch'),
    read: z.boolean(),
    /** Put away: no longer in the inbox, still found by search. */
    done: z.boolean(),
  })
  .meta({ id: 'InboxItem' });
export type InboxItem = z.infer<typeof InboxItem>;

/** What is offered to the inbox; the handover's key is the notice's identity, a key that is there is ignored. */
export const InboxOffer = z.object({
  title: z.string().default(''),
  body: z.string(),
  format: TextFormat.default('text'),
  priority: Priority.default(3),
  tags: z.array(z.string()).default([]),
  source: z.string(),
  topic: z.string().default(''),
  link: z.string().optional(),
  time: z.number(),
});
export type InboxOffer = z.infer<typeof InboxOffer>;

/** Received by inbox. */
export const inboxOffered = defineHandover('inbox.offer', InboxOffer);

/** Rows that the person at the screen has read; received by inbox. Repeating it changes nothing. */
export const inboxRead = defineHandover('inbox.read', z.object({ ids: z.array(z.int()) }));

export const inboxAdded = defineTopic('inbox.added', InboxItem);
/** Rows were changed or removed; a page applies what it shows and reads the counts anew. */
export const inboxChanged = defineTopic(
  'inbox.changed',
  z.object({
    ids: z.array(z.int()),
    change: z.object({ read: z.boolean().optional(), done: z.boolean().optional(), removed: z.boolean().optional() }),
    unread: z.int().nullable().describe('Of all rows; null for a person who may not see all of them.'),
    /** The same rows by where they came from, which decides who hears of them. */
    places: z.array(z.object({ topic: z.string(), source: z.string(), ids: z.array(z.int()) })).optional(),
  }),
);
export type InboxChanged = z.infer<typeof inboxChanged.schema>;

/** Where a row came from: its push topic or, without one, its source. */
export type InboxPlace = Pick<InboxItem, 'topic' | 'source'>;

/**
 * The grant that a row needs: that of its push topic, as a subscriber needs it; a row that came another way one on the inbox
 * for its source. Marking is for those who may read, removing for those who may write.
 */
export function inboxGrant({ topic, source }: InboxPlace, permission: NeededGrant['permission']): NeededGrant {
  return topic === ''
    ? { service: 'inbox', permission, resource: source }
    : { service: 'push', permission, resource: topic };
}

/** What was offered under these keys was read, put away or removed, by whomever. */
export const inboxSeen = defineTopic('inbox.seen', z.object({ keys: z.array(z.string()) }));

export const inboxApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/inbox',
    summary: 'The rows the caller may read, newest first; page on with `before` set to the last id.',
    access: 'objects',
    query: z.object({
      before: z.coerce.number().int().optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
      /** Words that title or body must all contain, the last one perhaps only its beginning; "in quotes" one after another. */
      q: z.string().optional(),
      source: z.string().optional(),
      tag: z.string().optional(),
      minPriority: z.coerce.number().int().min(1).max(5).optional(),
      unread: z.stringbool().optional(),
      done: z.stringbool().optional(),
    }),
    reply: z.object({ items: z.array(InboxItem), unread: z.int(), total: z.int(), sources: z.array(z.string()) }),
  }),
  one: defineRoute({
    method: 'GET',
    path: '/api/inbox/:id',
    summary: 'One row, also one that was put away; 404 `inbox.unknown` when there is none.',
    access: 'objects',
    reply: InboxItem,
  }),
  change: defineRoute({
    method: 'PATCH',
    path: '/api/inbox',
    summary: 'Marks rows read, unread, done or not done; `all` stands for every row the caller may read.',
    access: 'objects',
    body: z.object({
      ids: z.union([z.literal('all'), z.array(z.int()).min(1).max(1000)]),
      read: z.boolean().optional(),
      done: z.boolean().optional(),
    }),
    reply: z.object({ changed: z.int(), unread: z.int() }),
  }),
  remove: defineRoute({
    method: 'POST',
    path: '/api/inbox/remove',
    summary: 'Removes rows for good, for those who may write where they came from.',
    access: 'objects',
    body: z.object({ ids: z.array(z.int()).min(1).max(1000) }),
    reply: z.object({ removed: z.int(), unread: z.int() }),
  }),
};
