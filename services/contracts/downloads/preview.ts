import { z } from 'zod';

/** What a site says is behind an address, before anything is downloaded. */
export const DownloadPreview = z
  .object({
    title: z.string(),
    /** Who made it, empty when that is not known. */
    author: z.string(),
    /** Seconds. */
    duration: z.number().nullable(),
    /** Entries of a playlist; null: it is one video. */
    entries: z.int().nullable(),
    /** The picture's heights that the site has, the largest first; empty: not known. */
    heights: z.array(z.int()),
    /** There are chapters by which it can be split. */
    chapters: z.boolean(),
    /** Languages of subtitles that people have made. */
    subtitles: z.array(z.string()),
    live: z.boolean(),
    /** A small picture, as a `data:` address. */
    picture: z.string().nullable(),
  })
  .meta({ id: 'DownloadPreview' });
export type DownloadPreview = z.infer<typeof DownloadPreview>;
