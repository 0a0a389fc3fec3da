import { z } from 'zod';
import { file, options } from './values.ts';

/** yt-dlp options and presets. */
export const ytDlpSettings = {
  ytdlOptions: options.default({}).meta({
    live: true,
    title: 'yt-dlp options',
    description:
      'Options for every download, named as in the Python API of yt-dlp, such as {"ratelimit": 2000000, ' +
      '"geo_bypass_country": "DE"}. Unknown options and options that run programs or set folders are ' +
      'ignored and reported in the log and on Home.',
  }),
  ytdlOptionsFile: file.meta({
    live: true,
    title: 'yt-dlp options file',
    description:
      'JSON file with more yt-dlp options. They override the options above. Changes to the file take effect immediately.',
  }),
  ytdlPresets: z.record(z.string().min(1).max(100), options).default({}).meta({
    live: true,
    title: 'Presets',
    description: 'Named sets of yt-dlp options that requests can select, such as {"slow": {"ratelimit": "500K"}}.',
  }),
  ytdlPresetsFile: file.meta({
    live: true,
    title: 'Presets file',
    description:
      'JSON file with more presets. They override the presets above. Changes to the file take effect immediately.',
  }),
  allowOptionsOverrides: z.boolean().default(false).meta({
    live: true,
    title: 'yt-dlp options in requests',
    description: 'Allows everyone who can add downloads to set yt-dlp options for them, except for a proxy.',
  }),
};
