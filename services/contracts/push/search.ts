import * as m from '#messages/push-problems';
import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { PushMessage } from './api.ts';
import { Priority } from './topics.ts';

/** Routes for the search in the message history. */
export const pushSearchApi = {
  search: defineRoute({
    method: 'GET',
    path: '/api/push/search',
    summary:
      'Searches the readable messages in all topics that the caller can read, newest first. For the next page, ' +
      'set `before` to `next`. A page can contain fewer messages than requested, or none, even if there is a ' +
      'next page.',
    access: 'objects',
    query: z.object({
      /** Words that title, text or tags must all contain; quoted words must be adjacent, `begin*` matches a prefix. */
      words: z.string().max(200).default(''),
      /** Topic, or a pattern with `*`. */
      topic: z
        .string()
        .regex(/^[-_*A-Za-z0-9]{0,64}$/, { error: m.topicPatternInvalid })
        .default(''),
      /** Minimum priority. */
      priority: z.coerce.number().pipe(Priority).default(1),
      tag: z.string().max(100).default(''),
      since: z.coerce.number().int().min(0).default(0).describe('ms since the epoch'),
      until: z.coerce.number().int().min(0).optional().describe('ms since the epoch'),
      before: z.coerce.number().int().optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
    }),
    reply: z.object({ messages: z.array(PushMessage), next: z.int().nullable() }),
  }),
};
