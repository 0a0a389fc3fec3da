import { z } from 'zod';
import type { Identity } from './control/accounts.ts';
import type { Rights } from './route-access.ts';

/** Event of a service that Home lists, in the language of the reader. */
export const RecentEvent = z
  .object({
    /** Unique within the service. */
    id: z.string(),
    /** Title such as `ada pushed to main`. */
    title: z.string(),
    /** Place of the event, such as the name of a repository; empty if the title says it. */
    detail: z.string(),
    /** Page of the app that shows it. */
    to: z.string().regex(/^\/(?!\/)/),
    time: z.number().describe('ms since the epoch'),
  })
  .meta({ id: 'RecentEvent' });
export type RecentEvent = z.infer<typeof RecentEvent>;

/** Reader of recent events, who gets only what they may see. */
export interface RecentActivityQuery {
  readonly identity: Identity | undefined;
  readonly rights: Rights;
  readonly limit: number;
}
