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
  iosFormat: z.boolean().default(false).meta({
    live: true,
    title: 'Files for Apple devices',
    description:
      'Where a request names no format: MP4 with H.264 or HEVC and AAC, converted where a site has nothing of the kind.',
  }),
  subtitles: z
    .array(language.meta({ example: 'en' }))
    .max(50)
    .default([])
    .meta({
      live: true,
      title: 'Subtitles',
      description: 'Languages whose subtitles come with a video. A language that a video lacks is passed over.',
    }),
  embedSubtitles: z.boolean().default(false).meta({
    live: true,
    title: 'Subtitles inside the video',
    description: 'Off: as .srt files beside it. AVI has no room for any, so there they are always files.',
  }),
  automaticSubtitles: z.boolean().default(false).meta({
    live: true,
    title: 'Automatic subtitles too',
    description: 'What a machine has written is taken where nobody else has.',
  }),
  sponsorblockApi: webAddress.default('https://sponsor.ajay.app').meta({
    live: true,
    title: 'SponsorBlock server',
    description:
      'Asked for advertising in a video where a request wants it left out. It learns the beginning of a hash.',
  }),
  sponsorblockCategories: z
    .array(z.enum(segmentCategories))
    .default(['sponsor', 'selfpromo', 'interaction'])
    .meta({
      live: true,
      title: 'What SponsorBlock leaves out',
      description: 'Cut out where a request wants it.',
      choices: {
        sponsor: 'Sponsors',
        selfpromo: 'Unpaid promotion of their own',
        interaction: 'Asking to subscribe',
        intro: 'Opening',
        outro: 'Credits and end cards',
        preview: 'Preview or recap',
        filler: 'Tangents and jokes',
        music_offtopic: 'What is no music, in music videos',
        hook: 'Hook and greetings',
      },
    }),
};
