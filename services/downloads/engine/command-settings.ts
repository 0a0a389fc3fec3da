import { resolve } from 'node:path';
import { maySkip, buildOptionArguments, findTemplate, type Options } from '../domain/options.ts';
import type { Order } from '../domain/order.ts';
import type { Folders } from '../files/folders.ts';
import type { Settings } from '../settings.ts';
import type { CommandSettings } from './command.ts';
import type { JavaScriptRuntime } from './javascript-runtime.ts';

type OptionLayers = Pick<Settings, 'ytdlOptions' | 'ytdlPresets'>;

/** Returns the settings for the extractor's command line. `javaScript` selects the JavaScript runtime. */
export function createCommandSettings(
  settings: Settings,
  folders: Pick<Folders, 'cache' | 'downloads'>,
  javaScript: JavaScriptRuntime,
): CommandSettings {
  return {
    get javaScript() {
      return javaScript.args;
    },
    cacheFolder: folders.cache,
    get socketTimeout() {
      return settings.socketTimeout;
    },
    get retries() {
      return settings.retries;
    },
    get subtitles() {
      const { subtitles: languages, embedSubtitles: embed, automaticSubtitles: automatic } = settings;
      return { languages, embed, automatic };
    },
    buildOptionArguments(order, purpose) {
      const archive = findArchive(order, settings, folders.downloads);
      const args = buildOptionArguments(
        { ...mergeOptions(order, settings), download_archive: archive ?? null },
        purpose,
      );
      const usesSponsorBlock = args.some((each) => each.startsWith('--sponsorblock-'));
      return usesSponsorBlock ? [...args, '--sponsorblock-api', settings.sponsorblockApi] : args;
    },
    maySkip: (order) => maySkip(mergeOptions(order, settings)),
    get sponsorblock() {
      return { api: settings.sponsorblockApi, categories: settings.sponsorblockCategories };
    },
  };
}

/** Returns the file name template of an order's options, which replaces the one of the settings. */
export function findOrderTemplate(order: Order, layers: OptionLayers, downloads: string): string | undefined {
  return findTemplate(mergeOptions(order, layers), [downloads, metubeDownloads]);
}

/**
 * Returns the path of the download archive of an order, which prevents repeated downloads. A relative path is resolved
 * below the download folder.
 */
export function findArchive(order: Order, layers: OptionLayers, downloads: string): string | undefined {
  const { download_archive: archive } = mergeOptions(order, layers);
  return typeof archive === 'string' ? resolve(downloads, archive) : undefined;
}

/** Returns the order without its download archive, for a repeated download. */
export function withoutArchive(order: Order, layers: OptionLayers): Order {
  const { download_archive: archive = null } = mergeOptions(order, layers);
  return archive === null ? order : { ...order, overrides: { ...order.overrides, download_archive: null } };
}

/** Download folder in MeTube's container image. */
const metubeDownloads = '/downloads';

/** Merges all layers; later ones override earlier ones. */
function mergeOptions({ presets, overrides }: Order, { ytdlOptions, ytdlPresets }: OptionLayers): Options {
  // A removed preset sets nothing.
  const selected = presets.map((name) => (Object.hasOwn(ytdlPresets, name) ? ytdlPresets[name] : {}));
  return Object.assign({}, ytdlOptions, ...selected, overrides) as Options;
}
