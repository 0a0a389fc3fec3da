import { z } from 'zod';

/** Properties of the video or audio behind a download. Unknown ones are missing. */
export const MediaDetails = z
  .object({
    /** Name of the channel or uploader, as the site shows it. */
    channel: z.string().optional(),
    /** Playing time in seconds. */
    duration: z.number().optional(),
    /** Height of the picture in pixels. */
    height: z.number().optional(),
    /** Codec of the video stream by its name in ffmpeg, such as `h264`. */
    videoCodec: z.string().optional(),
    /** Codec of the audio stream by its name in ffmpeg, such as `aac`. */
    audioCodec: z.string().optional(),
  })
  .meta({ id: 'MediaDetails' });
export type MediaDetails = z.infer<typeof MediaDetails>;
