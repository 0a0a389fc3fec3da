import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineTopic } from '../bus.ts';

/** State of native popups for the tray and the pages. */
export const PopupsState = z
  .object({
    /** False when disabled in the settings; messages still reach the inbox. */
    enabled: z.boolean(),
    /** Driver: `electron`, `notify-send`, `node-notifier`; `none` without a desktop. */
    driver: z.string(),
    /** End of the manual pause, ms since the epoch; null for none. */
    pausedUntil: z.number().nullable(),
    /** End of the current quiet hours, ms since the epoch; null for none. */
    quietUntil: z.number().nullable(),
    /** Number of held messages, which are summarised in one popup at the end. */
    held: z.int(),
  })
  .meta({ id: 'PopupsState' });
export type PopupsState = z.infer<typeof PopupsState>;

/** Published when the popups' state changed: a pause, quiet hours, another held message. */
export const popupsChanged = defineTopic('control.popups', PopupsState);

/** Routes for popups. */
export const popupsApi = {
  popups: defineRoute({
    method: 'GET',
    path: '/api/popups',
    summary: 'Whether native popups are shown, paused or held by quiet hours, and how many wait.',
    access: 'admin',
    reply: PopupsState,
  }),
  pausePopups: defineRoute({
    method: 'PUT',
    path: '/api/popups',
    summary:
      'Pauses popups until a moment (ms since the epoch, a year ahead at most); null or a moment that is over ' +
      'ends the pause. Priority 4 and 5 pass.',
    access: 'admin',
    body: z.object({ pausedUntil: z.number().nonnegative().nullable() }),
    reply: PopupsState,
  }),
};
