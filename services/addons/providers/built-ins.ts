import type { Clock } from '../../contracts/service.ts';
import type { BuiltIn } from '../aggregate/addon.ts';
import type { Self } from '../aggregate/configured-addons.ts';
import type { Titles } from '../aggregate/titles.ts';
import type { AddonConfig, Preset } from '../domain/config.ts';
import { presetKind } from '../domain/presets.ts';
import type { PlaybackLinks } from '../playback/links.ts';
import type { StreamProxy } from '../proxy/stream-proxy.ts';
import { Easynews, easynewsAddon } from './easynews.ts';
import { libraryAddon } from './library-addon.ts';
import type { ProviderPool } from './provider-pool.ts';
import type { UsableService } from './wrap-torrents.ts';

export interface BuiltInsOptions {
  readonly clock: Clock;
  readonly pool: ProviderPool;
  readonly links: PlaybackLinks;
  readonly proxy: StreamProxy;
  readonly titles: Titles;
  readonly servicesOf: (config: AddonConfig, self: Self) => readonly UsableService[];
}

/** Creates the built-in addons, which request the services of a configuration. */
export class BuiltIns {
  readonly #options: BuiltInsOptions;

  constructor(options: BuiltInsOptions) {
    this.#options = options;
  }

  /** Creates a built-in addon. Returns undefined for other presets, and when the required account is missing. */
  make(preset: Preset, config: AddonConfig, self: Self): BuiltIn | undefined {
    const { baseUrl = '' } = self;
    const { clock, pool, links, proxy, titles, servicesOf } = this.#options;
    const kind = presetKind(preset.type)?.id;
    if (kind === 'library') return libraryAddon({ services: servicesOf(config, self), pool, links, baseUrl });
    const account = kind === 'easynews' ? servicesOf(config, self).find(({ id }) => id === 'easynews') : undefined;
    const caller = account && pool.caller('easynews', account.credentials);
    if (caller === undefined) return undefined;
    return easynewsAddon({
      client: new Easynews(caller, account?.credentials ?? {}),
      titleOf: (request) => titles.find(request),
      now: () => clock.now(),
      key: `${baseUrl} ${pool.fingerprint('easynews', account?.credentials ?? {})}`,
      playable: (url, request, name) => proxy.address(baseUrl, { url, request, from: caller.baseUrl }, name),
    });
  }
}
