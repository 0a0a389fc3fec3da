import { z } from 'zod';

/** Settings of the yt-dlp process. */
export const engineSettings = {
  keepLoaded: z
    .boolean()
    .default(true)
    .meta({
      live: true,
      title: 'Keep yt-dlp loaded',
      description:
        'Starts downloads several times as fast, for about 50 MB of memory while there are any. Where ' +
        'Python cannot import yt-dlp, each download starts it anew.',
    }),
  socketTimeout: z.int().min(1).max(600).default(30).meta({
    live: true,
    unit: 'seconds',
    title: 'Patience with silent servers',
    description: 'A connection on which no byte arrives for this time is given up.',
  }),
  retries: z.int().min(0).max(100).default(10).meta({
    live: true,
    title: 'Retries',
    description: 'How often a broken transfer is continued before the download fails.',
  }),
};
