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
    summary: 'The key a browser subscribes with; null while web push is switched off.',
    access: 'user',
    reply: z.object({ publicKey: z.string().nullable() }),
  }),
  topicsOf: defineRoute({
    method: 'POST',
    path: '/api/push/browsers/topics',
    summary: 'The topics that the browser with this endpoint gets.',
    access: 'objects',
    body: z.object({ endpoint: z.string().min(1).max(2000) }),
    reply: z.object({ topics: z.array(z.string()) }),
  }),
  put: defineRoute({
    method: 'PUT',
    path: '/api/push/browsers',
    summary:
      'Sends the messages of these topics to a browser from now on; `*` stands for all that its person may read. ' +
      'With no topics it is forgotten.',
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
