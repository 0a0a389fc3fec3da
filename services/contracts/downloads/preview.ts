import { z } from 'zod';

/** Information of a site about an address, before a download. */
export const DownloadPreview = z
  .object({
    title: z.string(),
    /** Creator; empty when unknown. */
    author: z.string(),
    /** Duration in seconds. */
    duration: z.number().nullable(),
    /** Number of playlist entries; null for a single video. */
    entries: z.int().nullable(),
    /** Available picture heights, largest first; empty when unknown. */
    heights: z.array(z.int()),
    /** The video has chapters at which it can be split. */
    chapters: z.boolean(),
    /** Languages of the manual subtitles. */
    subtitles: z.array(z.string()),
    live: z.boolean(),
    /** Thumbnail as a `data:` URL. */
    picture: z.string().nullable(),
  })
  .meta({ id: 'DownloadPreview' });
export type DownloadPreview = z.infer<typeof DownloadPreview>;
