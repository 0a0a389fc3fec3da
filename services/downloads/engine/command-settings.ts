import { optionArguments, type Options } from '../domain/options.ts';
import type { Folders } from '../run/folders.ts';
import type { Settings } from '../settings.ts';
import type { CommandSettings } from './command.ts';

/** What of the settings the extractor's command line is made of; `javaScript` says who runs the scripts of sites. */
export function commandSettings(
  settings: Settings,
  folders: Pick<Folders, 'cache'>,
  javaScript: readonly string[],
): CommandSettings {
  return {
    javaScript,
    cacheFolder: folders.cache,
    socketTimeout: settings.socketTimeout,
    retries: settings.retries,
    subtitles: {
      languages: settings.subtitles,
      embed: settings.embedSubtitles,
      automatic: settings.automaticSubtitles,
    },
    optionsOf({ presets, overrides }) {
      // A preset that was removed meanwhile sets nothing.
      const chosen = presets.map((name) => settings.ytdlPresets[name] ?? {});
      return optionArguments(Object.assign({}, settings.ytdlOptions, ...chosen, overrides) as Options);
    },
    sponsorblock: { api: settings.sponsorblockApi, categories: settings.sponsorblockCategories },
  };
}
