import { z } from 'zod';
import { file, options } from './values.ts';

/** Options of yt-dlp and presets. */
export const ytDlpSettings = {
  ytdlOptions: options.default({}).meta({
    live: true,
    title: 'Options of yt-dlp',
    description:
      'For every download, by the names of its Python interface, such as {"ratelimit": 2000000, ' +
      '"geo_bypass_country": "DE"}. What runs programs, names folders or is not understood is left out, ' +
      'and named in the log and on Home.',
  }),
  ytdlOptionsFile: file.meta({
    live: true,
    title: 'File with options of yt-dlp',
    description: 'A JSON file with more of them, which win over those above. A change of it takes effect at once.',
  }),
  ytdlPresets: z.record(z.string().min(1).max(100), options).default({}).meta({
    live: true,
    title: 'Presets',
    description: 'Sets of such options by name, for requests to choose from: {"slow": {"ratelimit": "500K"}}.',
  }),
  ytdlPresetsFile: file.meta({
    live: true,
    title: 'File with presets',
    description: 'A JSON file with more of them, which win over those above. A change of it takes effect at once.',
  }),
  allowOptionsOverrides: z.boolean().default(false).meta({
    live: true,
    title: 'Options in requests',
    description: 'Whoever may add downloads may set options of yt-dlp for them, but for a proxy.',
  }),
};
