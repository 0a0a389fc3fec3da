import * as m from '#messages/downloads-settings';
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
    label: m.iosFormat,
    help: m.iosFormatHelp,
  }),
  subtitles: z
    .array(language.meta({ example: 'en' }))
    .max(50)
    .default([])
    .meta({
      live: true,
      label: m.subtitles,
      help: m.subtitlesHelp,
    }),
  embedSubtitles: z.boolean().default(false).meta({
    live: true,
    label: m.embedSubtitles,
    help: m.embedSubtitlesHelp,
  }),
  automaticSubtitles: z.boolean().default(false).meta({
    live: true,
    label: m.automaticSubtitles,
    help: m.automaticSubtitlesHelp,
  }),
  sponsorblockApi: webAddress.default('https://sponsor.ajay.app').meta({
    live: true,
    label: m.sponsorblockApi,
    help: m.sponsorblockApiHelp,
  }),
  sponsorblockCategories: z
    .array(z.enum(segmentCategories))
    .default(['sponsor', 'selfpromo', 'interaction'])
    .meta({
      live: true,
      label: m.sponsorblockCategories,
      help: m.sponsorblockCategoriesHelp,
      choices: {
        sponsor: m.sponsorblockCategoriesSponsor,
        selfpromo: m.sponsorblockCategoriesSelfpromo,
        interaction: m.sponsorblockCategoriesInteraction,
        intro: m.sponsorblockCategoriesIntro,
        outro: m.sponsorblockCategoriesOutro,
        preview: m.sponsorblockCategoriesPreview,
        filler: m.sponsorblockCategoriesFiller,
        music_offtopic: m.sponsorblockCategoriesMusicOfftopic,
        hook: m.sponsorblockCategoriesHook,
      },
    }),
};
