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
        'Keeps a yt-dlp process running while there are downloads. They start faster, and the process uses ' +
        'about 50 MB of memory. Where Python cannot import yt-dlp, each download starts a new process.',
    }),
  socketTimeout: z.int().min(1).max(600).default(30).meta({
    live: true,
    unit: 'seconds',
    title: 'Connection timeout',
    description: 'A connection fails when no data arrives for this time.',
  }),
  retries: z.int().min(0).max(100).default(10).meta({
    live: true,
    title: 'Retries',
    description: 'How many times an interrupted transfer is resumed before the download fails.',
  }),
};
