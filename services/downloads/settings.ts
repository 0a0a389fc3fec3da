import { z } from 'zod';
import { storageSettings } from './settings/storage.ts';
import { serverSettings } from './settings/server.ts';
import { downloadSettings } from './settings/downloads.ts';
import { fileNameSettings } from './settings/file-names.ts';
import { mediaSettings } from './settings/media.ts';
import { ytDlpSettings } from './settings/yt-dlp.ts';
import { accessSettings } from './settings/access.ts';
import { engineSettings } from './settings/engine.ts';

/** Section `services.downloads` of the settings. */
export const Settings = z.object({
  ...storageSettings,
  ...serverSettings,
  ...downloadSettings,
  ...fileNameSettings,
  ...mediaSettings,
  ...ytDlpSettings,
  ...accessSettings,
  ...engineSettings,
});
export type Settings = z.infer<typeof Settings>;
