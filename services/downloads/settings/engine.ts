import * as m from '#messages/downloads-settings';
import { z } from 'zod';

/** Settings of the yt-dlp process. */
export const engineSettings = {
  keepLoaded: z.boolean().default(true).meta({
    live: true,
    label: m.keepLoaded,
    help: m.keepLoadedHelp,
  }),
  socketTimeout: z.int().min(1).max(600).default(30).meta({
    live: true,
    unit: 'seconds',
    label: m.socketTimeout,
    help: m.socketTimeoutHelp,
  }),
  retries: z.int().min(0).max(100).default(10).meta({
    live: true,
    label: m.retries,
    help: m.retriesHelp,
  }),
};
