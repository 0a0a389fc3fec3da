import { z } from 'zod';
import { defineRoute } from './api.ts';

/** The name of a key, as the peer defines it. */
export const NotifyKeyName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,128}$/, 'Use letters, digits, - and _ only, 128 at most.');

/** One destination of a key. Its secrets are masked; they never leave the host. */
export const NotifyDestination = z
  .object({
    /** Line of the configuration it stands in, from 1, and its fingerprint: together they name it. */
    line: z.int(),
    id: z.string(),
    service: z.string(),
    /** Secrets masked. */
    url: z.string(),
    /** Tags of its own line. */
    tags: z.array(z.string()),
    /** Those and the names of the groups they are in. */
    worn: z.array(z.string()),
  })
  .meta({ id: 'NotifyDestination' });
export type NotifyDestination = z.infer<typeof NotifyDestination>;

export const NotifyKey = z
  .object({
    key: z.string(),
    destinations: z.array(NotifyDestination),
    /** Lines that do nothing, and why. */
    skipped: z.array(z.object({ line: z.int(), reason: z.string() })),
  })
  .meta({ id: 'NotifyKey' });
export type NotifyKey = z.infer<typeof NotifyKey>;

export const NotifyDelivery = z.object({
  destination: z.string(),
  service: z.string(),
  url: z.string(),
  state: z.enum(['waiting', 'done', 'dead']),
  attempts: z.int(),
  detail: z.string(),
  updatedAt: z.number(),
  /** Given-up work that can be tried again or dropped. */
  givenUp: z.boolean(),
});
export type NotifyDelivery = z.infer<typeof NotifyDelivery>;

/** A notice and what became of it. */
export const NotifyNotice = z
  .object({
    id: z.string(),
    key: z.string(),
    title: z.string(),
    /** Its beginning. */
    body: z.string(),
    type: z.string(),
    source: z.string(),
    time: z.number().describe('ms since the epoch'),
    deliveries: z.array(NotifyDelivery),
  })
  .meta({ id: 'NotifyNotice' });
export type NotifyNotice = z.infer<typeof NotifyNotice>;

const named = { line: z.int().min(1), id: z.string() };
const tags = z
  .array(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'A tag is letters, digits, - and _.'))
  .max(50);
const url = z.string().trim().min(1, 'Write the address of the destination.').max(4096);
const delivery = z.object({ notice: z.string(), destination: z.string() });

/** Our own API around keys, destinations and the history of notices. Administrators alone: addresses hold secrets. */
export const notifyApi = {
  keys: defineRoute({
    method: 'GET',
    path: '/api/notify/keys',
    summary: 'All keys with their destinations, secrets masked.',
    access: 'admin',
    reply: z.object({ keys: z.array(NotifyKey) }),
  }),
  addDestination: defineRoute({
    method: 'POST',
    path: '/api/notify/keys/:key/destinations',
    summary: 'Adds a destination to a key; a key that is not there is made.',
    access: 'admin',
    body: z.object({ url, tags: tags.default([]) }),
    reply: NotifyKey,
  }),
  changeDestination: defineRoute({
    method: 'PUT',
    path: '/api/notify/keys/:key/destinations',
    summary: 'Changes the tags of a destination and, when given, its address.',
    access: 'admin',
    body: z.object({ ...named, url: url.optional(), tags }),
    reply: NotifyKey,
  }),
  removeDestination: defineRoute({
    method: 'POST',
    path: '/api/notify/keys/:key/destinations/remove',
    summary: 'Takes a destination out of a key.',
    access: 'admin',
    body: z.object(named),
    reply: NotifyKey,
  }),
  removeKey: defineRoute({
    method: 'DELETE',
    path: '/api/notify/keys/:key',
    summary: 'Removes a key with all its destinations.',
    access: 'admin',
    reply: z.object({ ok: z.literal(true) }),
  }),
  choose: defineRoute({
    method: 'GET',
    path: '/api/notify/keys/:key/choose',
    summary: 'Who would get a notice with this tag expression; without one: everyone.',
    access: 'admin',
    query: z.object({ tag: z.string().max(1000).optional() }),
    reply: z.object({ chosen: z.array(NotifyDestination) }),
  }),
  test: defineRoute({
    method: 'POST',
    path: '/api/notify/keys/:key/test',
    summary: 'Sends a test notice and answers what each destination said.',
    access: 'admin',
    body: z.object({ line: z.int().min(1).optional(), tag: z.string().max(1000).optional() }),
    reply: z.object({
      results: z.array(
        z.object({ line: z.int(), url: z.string(), state: z.enum(['done', 'failed', 'queued']), detail: z.string() }),
      ),
    }),
  }),
  notices: defineRoute({
    method: 'GET',
    path: '/api/notify/notices',
    summary: 'Notices with the result at each destination, newest first; page on with `before` set to the last `time`.',
    access: 'admin',
    query: z.object({
      before: z.coerce.number().int().optional(),
      limit: z.coerce.number().int().min(1).max(100).default(30),
      /** Only those of which a delivery was given up, or waits. */
      state: z.enum(['dead', 'waiting']).optional(),
    }),
    reply: z.object({ notices: z.array(NotifyNotice), givenUp: z.int(), waiting: z.int() }),
  }),
  retry: defineRoute({
    method: 'POST',
    path: '/api/notify/deliveries/retry',
    summary: 'Tries a given-up delivery again now.',
    access: 'admin',
    body: delivery,
    reply: z.object({ ok: z.literal(true) }),
  }),
  drop: defineRoute({
    method: 'POST',
    path: '/api/notify/deliveries/drop',
    summary: 'Gives a delivery up for good.',
    access: 'admin',
    body: delivery,
    reply: z.object({ ok: z.literal(true) }),
  }),
};
