import * as m from '#messages/data-problems';
import { z } from 'zod';
import { defineRoute } from '../api.ts';

/** Saved statements with a name. */
export const SavedQuery = z
  .object({
    id: z.string(),
    name: z.string(),
    text: z.string(),
    changedAt: z.number().describe('ms since the epoch'),
  })
  .meta({ id: 'SavedQuery' });
export type SavedQuery = z.infer<typeof SavedQuery>;

const timestamp = '/api/data/queries';
const name = z.string().trim().min(1, { error: m.nameRequired }).max(100, { error: m.nameTooLong });
const text = z.string().min(1, { error: m.queryRequired }).max(100_000, { error: m.queryTooLong });

/** Routes for the saved queries of the calling administrator. */
export const savedQueriesApi = {
  list: defineRoute({
    method: 'GET',
    path: timestamp,
    summary: "Lists the caller's saved queries, ordered by name.",
    access: 'admin',
    reply: z.object({ queries: z.array(SavedQuery) }),
  }),
  create: defineRoute({
    method: 'POST',
    path: timestamp,
    summary: 'Saves a query under a name.',
    access: 'admin',
    body: z.object({ name, text }),
    reply: SavedQuery,
  }),
  change: defineRoute({
    method: 'PATCH',
    path: `${timestamp}/:id`,
    summary: 'Changes the name or the text of a saved query.',
    access: 'admin',
    body: z.object({ name: name.optional(), text: text.optional() }),
    reply: SavedQuery,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: `${timestamp}/:id`,
    summary: 'Deletes a saved query.',
    access: 'admin',
    reply: z.object({ ok: z.literal(true) }),
  }),
};
