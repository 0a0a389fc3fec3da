import { resolve } from 'node:path';
import { maySkip, optionArguments, templateIn, type Options } from '../domain/options.ts';
import type { Order } from '../domain/order.ts';
import type { Folders } from '../run/folders.ts';
import type { Settings } from '../settings.ts';
import type { CommandSettings } from './command.ts';

type Layers = Pick<Settings, 'ytdlOptions' | 'ytdlPresets'>;

/** What of the settings the extractor's command line is made of; `javaScript` says who runs the scripts of sites. */
export function commandSettings(
  settings: Settings,
  folders: Pick<Folders, 'cache' | 'downloads'>,
  javaScript: readonly string[],
): CommandSettings {
  return {
    javaScript,
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
    optionsOf(order, purpose) {
      const archive = archiveOf(order, settings, folders.downloads);
      const args = optionArguments({ ...optionsOf(order, settings), download_archive: archive ?? null }, purpose);
      const cuts = args.some((each) => each.startsWith('--sponsorblock-'));
      return cuts ? [...args, '--sponsorblock-api', settings.sponsorblockApi] : args;
    },
    maySkip: (order) => maySkip(optionsOf(order, settings)),
    get sponsorblock() {
      return { api: settings.sponsorblockApi, categories: settings.sponsorblockCategories };
    },
  };
}

/** The template that the options of an order name, in place of the one of the settings. */
export function templateOf(order: Order, layers: Layers, downloads: string): string | undefined {
  return templateIn(optionsOf(order, layers), [downloads, peersDownloads]);
}

/** Where the downloads of an order are written down, so that none is fetched twice; a relative path is below the download folder. */
export function archiveOf(order: Order, layers: Layers, downloads: string): string | undefined {
  const { download_archive: archive } = optionsOf(order, layers);
  return typeof archive === 'string' ? resolve(downloads, archive) : undefined;
}

/** The order for what may have been downloaded before, and is wanted all the same. */
export function withoutArchive(order: Order, layers: Layers): Order {
  const { download_archive: archive = null } = optionsOf(order, layers);
  return archive === null ? order : { ...order, overrides: { ...order.overrides, download_archive: null } };
}

/** Where the peer's image has its downloads. */
const peersDownloads = '/downloads';

/** All layers over each other; what is named later wins. */
function optionsOf({ presets, overrides }: Order, { ytdlOptions, ytdlPresets }: Layers): Options {
  // A preset that was removed meanwhile sets nothing.
  const chosen = presets.map((name) => (Object.hasOwn(ytdlPresets, name) ? ytdlPresets[name] : {}));
  return Object.assign({}, ytdlOptions, ...chosen, overrides) as Options;
}
