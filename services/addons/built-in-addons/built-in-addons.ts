import type { Clock } from '../../contracts/service.ts';
import type { BuiltIn } from '../upstream/addon.ts';
import type { ConfigurationIdentity } from '../aggregate/configured-addons.ts';
import type { TitleLookup } from '../aggregate/titles.ts';
import type { AddonConfig, Preset } from '../domain/config.ts';
import { findPresetKind } from '../domain/presets.ts';
import type { PlaybackLinks } from '../playback/links.ts';
import type { StreamProxy } from '../proxy/stream-proxy.ts';
import { Easynews, createEasynewsAddon } from '../providers/easynews.ts';
import { LibraryAddon } from './library-addon.ts';
import type { ProviderPool } from '../providers/provider-pool.ts';
import type { UsableService } from '../playback/wrap-torrents.ts';

export interface BuiltInAddonsOptions {
  readonly clock: Clock;
  readonly pool: ProviderPool;
  readonly links: PlaybackLinks;
  readonly proxy: StreamProxy;
  readonly titles: TitleLookup;
  readonly getServices: (config: AddonConfig, identity: ConfigurationIdentity) => readonly UsableService[];
}

/** Creates the built-in addons, which request the services of a configuration. */
export class BuiltInAddons {
  readonly #options: BuiltInAddonsOptions;

  constructor(options: BuiltInAddonsOptions) {
    this.#options = options;
  }

  /** Creates a built-in addon. Returns undefined for other presets, and when the required account is missing. */
  create(preset: Preset, config: AddonConfig, identity: ConfigurationIdentity): BuiltIn | undefined {
    const { baseUrl = '' } = identity;
    const { clock, pool, links, proxy, titles, getServices } = this.#options;
    const presetId = findPresetKind(preset.type)?.id;
    if (presetId === 'library')
      return new LibraryAddon({ services: getServices(config, identity), pool, links, baseUrl });
    const account =
      presetId === 'easynews' ? getServices(config, identity).find(({ id }) => id === 'easynews') : undefined;
    const httpClient = account && pool.createHttpClient('easynews', account.credentials);
    if (httpClient === undefined) return undefined;
    return createEasynewsAddon({
      client: new Easynews(httpClient, account?.credentials ?? {}),
      findTitle: (request) => titles.findMetadata(request),
      now: () => clock.now(),
      key: `${baseUrl} ${pool.fingerprint('easynews', account?.credentials ?? {})}`,
      buildStreamUrl: (url, request, name) =>
        proxy.buildAddress(baseUrl, { url, request, from: httpClient.baseUrl }, name),
    });
  }
}
