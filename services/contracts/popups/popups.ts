import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineTopic } from '../bus.ts';

/** What the tray and the pages show about native popups. */
export const PopupsState = z
  .object({
    /** False: switched off in the settings; everything still reaches the inbox. */
    enabled: z.boolean(),
    /** What shows them: `electron`, `notify-send`, `node-notifier`; `none` where there is no desktop. */
    driver: z.string(),
    /** End of the pause that someone asked for, ms since the epoch; null while there is none. */
    pausedUntil: z.number().nullable(),
    /** End of the quiet hours that hold popups now, ms since the epoch; null while there are none. */
    quietUntil: z.number().nullable(),
    /** Messages held back so far, to be summed up in one popup at the end. */
    held: z.int(),
  })
  .meta({ id: 'PopupsState' });
export type PopupsState = z.infer<typeof PopupsState>;

/** The popups' state changed: a pause, quiet hours, another message held. */
export const popupsChanged = defineTopic('control.popups', PopupsState);

/** The popups' part of our own API. */
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
      'Pauses popups until a moment (ms since the epoch, a year ahead at most); null or a moment that is over ends the pause. Priority 4 and 5 pass.',
    access: 'admin',
    body: z.object({ pausedUntil: z.number().nonnegative().nullable() }),
    reply: PopupsState,
  }),
};
