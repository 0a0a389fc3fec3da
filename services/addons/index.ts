import { defineService, type Context, type Service } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { Activity } from './activity.ts';
import { Aggregator } from './aggregate/aggregator.ts';
import { DigitalReleases } from './aggregate/digital-releases.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { PatternMatcher } from './aggregate/patterns.ts';
import { Sandbox } from './sandbox/sandbox.ts';
import { Precacher } from './aggregate/precacher.ts';
import { SeaDex } from './aggregate/seadex.ts';
import { TitleLookup } from './aggregate/titles.ts';
import type { ServiceId } from './domain/debrid-services.ts';
import { debridService } from './domain/debrid-services.ts';
import { createCachedReleaseParser } from './domain/release-cache.ts';
import { loadOnDemand } from './load-on-demand.ts';
import { manifest } from './manifest.ts';
import { createAddonMetrics, type AddonMetrics } from './metrics.ts';
import type { ResolveAddonsOptions } from './aggregate/configured-addons.ts';
import { Fallbacks } from './playback/fallbacks.ts';
import { PlaybackLinks } from './playback/links.ts';
import { Player } from './playback/player.ts';
import { Profiles } from './profiles/profiles.ts';
import { BuiltInAddons } from './built-in-addons/built-in-addons.ts';
import { PikPak } from './providers/pikpak.ts';
import { ProviderPool } from './providers/provider-pool.ts';
import { StreamProxy } from './proxy/stream-proxy.ts';
import { createAppApiHandlers } from './app-api/app-api.ts';
import { RequestContextFactory } from './stremio-api/request-context-factory.ts';
import { RateLimits } from './stremio-api/rate-limits.ts';
import { createListener } from './stremio-api/server.ts';
import type { Settings } from './settings.ts';
import { PlayHistory } from './store/plays.ts';
import { AddressPolicy, type Trust } from './upstream/address-policy.ts';
import { GuardedFetch } from './upstream/guarded-fetch.ts';
import { UpstreamClient } from './upstream/upstream.ts';

/** The addon aggregator. */
export const addons = defineService({
  ...manifest,
  create: (context, settings) => create(context, settings as Settings),
});

const version = '1.0.0';
/** Release names recur within a season, so more of them are cached than responses. */
const releasesPerEntry = 5;

function create(context: Context, initialSettings: Settings): Service {
  const { clock } = context;
  const live = createLiveSettings(initialSettings, () => aggregator.clearLists());
  const settings = live.current;
  const metrics = createAddonMetrics(context.metrics, () => upstream.cached);
  const addressPolicy = new AddressPolicy(context, () => settings.baseUrl || undefined);
  const guardedFetch = new GuardedFetch(context, addressPolicy);
  const trust = (): Trust => (settings.allowPrivateAddresses ? 'owner' : 'other');
  const profiles = new Profiles(context, settings.secretKey);
  const upstream = createUpstream({ context, settings, guardedFetch, metrics });
  const pool = createPool({ context, settings, guardedFetch, metrics });
  const playback = composePlayback(context, { metrics, pool, profiles });
  const { history, links, player } = playback;
  const sandbox = new Sandbox(context);
  const proxy = new StreamProxy({ context, profiles, policy: addressPolicy, guardedFetch, trust });
  const activity = new Activity(clock);
  const titles = new TitleLookup(context, settings.metadataUrl);
  const aggregator = composeAggregator(context, settings, {
    upstream,
    pool,
    playback,
    sandbox,
    proxy,
    activity,
    titles,
    addressPolicy,
    trust,
  });
  const dependencies = {
    context,
    settings,
    metrics,
    profiles,
    aggregator,
    requestContexts: createRequestContexts(context, settings, profiles, proxy),
    upstream,
    activity,
    pool,
    links,
    player,
    precacher: new Precacher({ context, aggregator, titles, links, player, sandbox }),
    proxy,
    limits: new RateLimits(clock, () => settings.disableRateLimits),
    version,
  };
  return {
    http: createListener(dependencies),
    api: createAppApiHandlers(dependencies),
    async start() {
      await profiles.start();
      await history.load();
    },
    health: () => getHealth(pool, profiles),
    reconfigure: live.update,
    accountData: createAccountData(profiles),
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}

/** Playback of results: links to them, alternatives and the history. */
interface Playback {
  readonly links: PlaybackLinks;
  readonly fallbacks: Fallbacks;
  readonly history: PlayHistory;
  readonly player: Player;
}

interface PlaybackOptions {
  readonly metrics: AddonMetrics;
  readonly pool: ProviderPool;
  readonly profiles: Profiles;
}

function composePlayback(context: Context, { metrics, pool, profiles }: PlaybackOptions): Playback {
  const { clock, log } = context;
  const links = new PlaybackLinks(profiles);
  const fallbacks = new Fallbacks(links);
  const history = new PlayHistory(context);
  return { links, fallbacks, history, player: new Player({ clock, log, metrics, pool, history, fallbacks }) };
}

interface AggregatorOptions {
  readonly upstream: UpstreamClient;
  readonly pool: ProviderPool;
  readonly playback: Playback;
  readonly sandbox: Sandbox;
  readonly proxy: StreamProxy;
  readonly activity: Activity;
  readonly titles: TitleLookup;
  readonly addressPolicy: AddressPolicy;
  readonly trust: () => Trust;
}

/** Composes the aggregator with the built-in addons and its sources of metadata. */
function composeAggregator(context: Context, settings: Settings, options: AggregatorOptions): Aggregator {
  const { upstream, pool, sandbox, proxy, activity, titles, addressPolicy, trust } = options;
  const { links, fallbacks, history } = options.playback;
  const builtIns = new BuiltInAddons({
    clock: context.clock,
    pool,
    links,
    proxy,
    titles,
    getServices: (config, identity) => aggregator.getProviderAccounts(config, identity),
  });
  const aggregator: Aggregator = new Aggregator({
    context,
    settings,
    upstream,
    pool,
    links,
    fallbacks,
    history,
    patterns: new PatternMatcher(sandbox, () => settings.regexFilterAccess),
    sandbox,
    activity,
    version,
    titles,
    digital: new DigitalReleases(context, settings.tmdbUrl),
    seadex: new SeaDex(context, { list: settings.seadexUrl, mapping: settings.animeMappingUrl }),
    addons: createResolveOptions(settings, addressPolicy, trust, builtIns),
  });
  return aggregator;
}

interface ClientOptions {
  readonly context: Context;
  readonly settings: Settings;
  readonly guardedFetch: GuardedFetch;
  readonly metrics: AddonMetrics;
}

function createUpstream({ context, settings, guardedFetch, metrics }: ClientOptions): UpstreamClient {
  return new UpstreamClient({
    context,
    guardedFetch,
    metrics,
    readRelease: createCachedReleaseParser(() => settings.maxCacheSize * releasesPerEntry),
    get cacheSize() {
      return settings.maxCacheSize;
    },
    get streamCacheSeconds() {
      return settings.streamCacheSeconds;
    },
    userAgent: `Homeport/${version}`,
    get logAddresses() {
      return settings.logSensitiveInfo;
    },
  });
}

function createPool({ context, settings, guardedFetch, metrics }: ClientOptions): ProviderPool {
  return new ProviderPool({
    context,
    guardedFetch,
    metrics,
    get cacheSize() {
      return settings.maxCacheSize;
    },
    baseUrl: (id) => getProviderUrl(id, settings),
    providerFactories: {
      pikpak: (httpClient, credentials) =>
        new PikPak(httpClient, credentials, {
          authUrl: settings.pikpakAuthUrl || 'https://user.mypikpak.com',
          clientId: settings.pikpakClientId,
          clientSecret: settings.pikpakClientSecret,
          now: () => context.clock.now(),
        }),
    },
  });
}

/** Settings are read by getters, because they can change while the service runs. */
function createResolveOptions(
  settings: Settings,
  addressPolicy: AddressPolicy,
  trust: () => Trust,
  builtIns: BuiltInAddons,
): ResolveAddonsOptions {
  return {
    policy: addressPolicy,
    get trust() {
      return trust();
    },
    get defaultTimeoutMs() {
      return settings.timeout;
    },
    get maxAddons() {
      return settings.maxAddons;
    },
    get disableSelfScraping() {
      return settings.disableSelfScraping;
    },
    createBuiltIn: (preset, config, identity) => builtIns.create(preset, config, identity),
  };
}

function createRequestContexts(
  context: Context,
  settings: Settings,
  profiles: Profiles,
  proxy: StreamProxy,
): RequestContextFactory {
  return new RequestContextFactory({
    profiles,
    proxy,
    get baseUrl() {
      return settings.baseUrl;
    },
    caller: context.caller,
    publicUrl: context.publicUrl,
  });
}

function createAccountData(profiles: Profiles): NonNullable<Service['accountData']> {
  return {
    async summary(account) {
      return [{ kind: 'configurations', count: await profiles.countByOwner(account) }];
    },
    release: (account, disposition) => profiles.release(account, disposition),
  };
}

async function getHealth(pool: ProviderPool, profiles: Profiles): Promise<Health> {
  const unavailableServices = pool.health.list().filter(({ disabledUntil }) => disabledUntil !== undefined);
  const names = unavailableServices.map(({ id }) => debridService(id)?.name ?? id).join(', ');
  if (names !== '')
    return {
      state: 'degraded',
      detail: `${names} ${unavailableServices.length === 1 ? 'does' : 'do'} not answer.`,
      remedy: { label: 'See the services', to: '/addons/services' },
    };
  const count = await profiles.count();
  if (count === 0) return loadOnDemand.health;
  return { state: 'up', detail: `${String(count)} ${count === 1 ? 'configuration' : 'configurations'}` };
}

function getProviderUrl(id: ServiceId, settings: Settings): string {
  const configuredUrl = settings[`${id}Url`];
  return typeof configuredUrl === 'string' && configuredUrl !== '' ? configuredUrl : (debridService(id)?.baseUrl ?? '');
}
