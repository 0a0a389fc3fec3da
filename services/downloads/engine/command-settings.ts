import type { Folders } from '../folders.ts';
import type { Settings } from '../settings.ts';
import type { CommandSettings } from './command.ts';

/** What of the settings the extractor's command line is made of. */
export function commandSettings(
  settings: Settings,
  folders: Pick<Folders, 'cache'>,
  javaScript: readonly string[],
): CommandSettings {
  return {
    cacheFolder: folders.cache,
    javaScript,
    socketTimeout: settings.socketTimeout,
    retries: settings.retries,
    subtitles: {
      languages: settings.subtitles,
      embed: settings.embedSubtitles,
      automatic: settings.automaticSubtitles,
    },
    sponsorblock: { api: settings.sponsorblockApi, categories: settings.sponsorblockCategories },
  };
}
