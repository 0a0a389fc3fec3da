import { z } from 'zod';
import { language, webAddress } from './values.ts';

/** Segment categories of SponsorBlock; https://wiki.sponsor.ajay.app/w/Types. */
const segmentCategories = [
  'sponsor',
  'selfpromo',
  'interaction',
  'intro',
  'outro',
  'preview',
  'filler',
  'music_offtopic',
  'hook',
] as const;

/** Settings of conversion, subtitles and SponsorBlock. */
export const mediaSettings = {
  iosFormat: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Apple-compatible files',
      description:
        'Downloads MP4 files with H.264 or HEVC video and AAC audio when a request does not specify a ' +
        'format. Other files are converted.',
    }),
  subtitles: z
    .array(language.meta({ example: 'en' }))
    .max(50)
    .default([])
    .meta({
      live: true,
      title: 'Subtitles',
      description: 'Subtitle languages to download with each video. Languages that a video does not have are skipped.',
    }),
  embedSubtitles: z.boolean().default(false).meta({
    live: true,
    title: 'Embed subtitles',
    description:
      'Stores subtitles in the video file. When off, and always for AVI, they are saved as separate .srt files.',
  }),
  automaticSubtitles: z.boolean().default(false).meta({
    live: true,
    title: 'Automatic subtitles',
    description: 'Downloads automatically generated subtitles when a video has no manual ones.',
  }),
  sponsorblockApi: webAddress.default('https://sponsor.ajay.app').meta({
    live: true,
    title: 'SponsorBlock server',
    description:
      'Server that provides the segments to remove from a video. It receives only the first characters ' +
      'of a hash of the video ID.',
  }),
  sponsorblockCategories: z
    .array(z.enum(segmentCategories))
    .default(['sponsor', 'selfpromo', 'interaction'])
    .meta({
      live: true,
      title: 'SponsorBlock categories',
      description: 'Segments to remove when a request enables SponsorBlock.',
      choices: {
        sponsor: 'Sponsors',
        selfpromo: 'Self-promotion',
        interaction: 'Interaction reminders',
        intro: 'Intros',
        outro: 'End cards and credits',
        preview: 'Previews and recaps',
        filler: 'Tangents and jokes',
        music_offtopic: 'Non-music sections of music videos',
        hook: 'Hooks and greetings',
      },
    }),
};
