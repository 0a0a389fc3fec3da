import { z } from 'zod';
import { defineRoute } from '../api.ts';

const ok = z.object({ ok: z.literal(true) });

/** In place of a topic: all topics that the account may read, including future ones. */
export const everyTopic = '*';

/** Routes for web push; answered by push. */
export const webPushApi = {
  key: defineRoute({
    method: 'GET',
    path: '/api/push/browsers',
    summary: 'Returns the key with which a browser subscribes; null if web push is disabled.',
    access: 'user',
    reply: z.object({ publicKey: z.string().nullable() }),
  }),
  topicsOf: defineRoute({
    method: 'POST',
    path: '/api/push/browsers/topics',
    summary: 'Lists the topics whose messages are sent to the browser with this endpoint.',
    access: 'objects',
    body: z.object({ endpoint: z.string().min(1).max(2000) }),
    reply: z.object({ topics: z.array(z.string()) }),
  }),
  put: defineRoute({
    method: 'PUT',
    path: '/api/push/browsers',
    summary:
      'Sets the topics whose messages are sent to a browser; `*` includes all topics that its user can read. An ' +
      'empty list removes the subscription.',
    access: 'objects',
    body: z.object({
      endpoint: z.string().min(1).max(2000),
      auth: z.string().min(1).max(200),
      p256dh: z.string().min(1).max(200),
      topics: z.array(z.string()).max(50),
    }),
    reply: ok,
  }),
};
