import { defineService, type Context, type Service } from '../contracts/service.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import { Activity } from './activity.ts';
import { Aggregator } from './aggregate/aggregator.ts';
import { createMetadata } from './aggregate/metadata.ts';
import { Precacher } from './aggregate/precacher.ts';
import { getProviderAccounts } from './aggregate/provider-accounts.ts';
import { createResolveOptions } from './aggregate/resolve-options.ts';
import { createAppApiHandlers } from './app-api/app-api.ts';
import { BuiltInAddons } from './built-in-addons/built-in-addons.ts';
import { getHealth } from './health.ts';
import { manifest } from './manifest.ts';
import { createAddonMetrics, registerCacheGauge } from './metrics.ts';
import { PlanMonitor } from './plans/plan-monitor.ts';
import { createPlayback } from './playback/playback.ts';
import { createAccountData } from './profiles/account-data.ts';
import { Profiles } from './profiles/profiles.ts';
import { createPool } from './providers/create-pool.ts';
import { StreamProxy } from './proxy/stream-proxy.ts';
import { Sandbox } from './sandbox/sandbox.ts';
import type { Settings } from './settings.ts';
import { RateLimits } from './stremio-api/rate-limits.ts';
import { RequestContextFactory } from './stremio-api/request-context-factory.ts';
import { createListener } from './stremio-api/server.ts';
import { AddressPolicy, type Trust } from './upstream/address-policy.ts';
import { createUpstream } from './upstream/create-upstream.ts';
import { GuardedFetch } from './upstream/guarded-fetch.ts';

/** The addon aggregator. */
export const addons = defineService({
  ...manifest,
  create: (context, settings) => create(context, settings as Settings),
});

function create(context: Context, initialSettings: Settings): Service {
  const { clock } = context;
  const live = createLiveSettings(initialSettings);
  const settings = live.current;
  const metrics = createAddonMetrics(context.metrics);
  const addressPolicy = new AddressPolicy(context, () => settings.baseUrl || undefined);
  const guardedFetch = new GuardedFetch(context, addressPolicy);
  const trust = (): Trust => (settings.allowPrivateAddresses ? 'owner' : 'other');
  const profiles = new Profiles(context, settings.secretKey);
  const upstream = createUpstream({ context, settings, guardedFetch, metrics });
  registerCacheGauge(context.metrics, upstream);
  const pool = createPool({ context, settings, guardedFetch, metrics });
  const plans = new PlanMonitor(context, { profiles, pool, settings });
  const resources = new AsyncDisposableStack();
  const playback = createPlayback(context, { metrics, pool, profiles });
  const { links, player } = playback;
  const sandbox = resources.use(new Sandbox(context));
  const proxy = new StreamProxy({ context, profiles, policy: addressPolicy, guardedFetch, trust });
  const activity = new Activity(clock);
  const metadata = createMetadata(context, settings);
  const { titles } = metadata;
  const builtIns = new BuiltInAddons({
    clock,
    pool,
    links,
    proxy,
    titles,
    getServices: (config, { foreign = false }) => getProviderAccounts(config, { settings, pool, foreign }),
  });
  const aggregator = new Aggregator(context, settings, {
    upstream,
    addons: createResolveOptions(settings, addressPolicy, trust, (...args) => builtIns.create(...args)),
    pool,
    playback,
    metadata,
    sandbox,
    activity,
  });
  const dependencies = {
    context,
    settings,
    profiles,
    activity,
    plans,
    catalog: {
      aggregator,
      upstream,
      guardedFetch,
      requestContexts: new RequestContextFactory(context, settings, profiles, proxy),
    },
    playback: {
      pool,
      links,
      player,
      proxy,
      precacher: new Precacher({ context, aggregator, titles, links, player, sandbox }),
    },
    traffic: { limits: new RateLimits(clock, () => settings.disableRateLimits), metrics },
  };
  return {
    http: createListener(dependencies),
    api: createAppApiHandlers(dependencies),
    async start() {
      await profiles.start();
      await playback.history.load();
      resources.use(await plans.start());
    },
    health: () => getHealth(pool, profiles),
    reconfigure: (next) => live.update(next, () => aggregator.clearLists()),
    accountData: createAccountData(profiles),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
