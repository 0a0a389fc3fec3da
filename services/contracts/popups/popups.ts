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
    summary:
      'Returns whether desktop notifications are shown, paused, or held by quiet hours, and how many are ' + 'waiting.',
    access: 'admin',
    reply: PopupsState,
  }),
  pausePopups: defineRoute({
    method: 'PUT',
    path: '/api/popups',
    summary:
      'Pauses desktop notifications until a time (ms since the epoch, at most a year ahead). Null or a past ' +
      'time ends the pause. Messages with priority 4 or 5 are still shown.',
    access: 'admin',
    body: z.object({ pausedUntil: z.number().nonnegative().nullable() }),
    reply: PopupsState,
  }),
};
