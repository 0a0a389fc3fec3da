import * as m from '#messages/downloads-settings';
import { z } from 'zod';
import { file, options } from './values.ts';

/** yt-dlp options and presets. */
export const ytDlpSettings = {
  ytdlOptions: options.default({}).meta({
    live: true,
    label: m.ytdlOptions,
    help: m.ytdlOptionsHelp,
  }),
  ytdlOptionsFile: file.meta({
    live: true,
    label: m.ytdlOptionsFile,
    help: m.ytdlOptionsFileHelp,
  }),
  ytdlPresets: z.record(z.string().min(1).max(100), options).default({}).meta({
    live: true,
    label: m.ytdlPresets,
    help: m.ytdlPresetsHelp,
  }),
  ytdlPresetsFile: file.meta({
    live: true,
    label: m.ytdlPresetsFile,
    help: m.ytdlPresetsFileHelp,
  }),
  allowOptionsOverrides: z.boolean().default(false).meta({
    live: true,
    label: m.allowOptionsOverrides,
    help: m.allowOptionsOverridesHelp,
  }),
};
