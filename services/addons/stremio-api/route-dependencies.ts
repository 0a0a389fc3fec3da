import type { Context } from '../../contracts/service.ts';
import type { Activity } from '../activity.ts';
import type { Aggregator } from '../aggregate/aggregator.ts';
import type { Precacher } from '../aggregate/precacher.ts';
import type { AddonMetrics } from '../metrics.ts';
import type { PlanMonitor } from '../plans/plan-monitor.ts';
import type { PlaybackLinks } from '../playback/links.ts';
import type { Player } from '../playback/player.ts';
import type { Profiles } from '../profiles/profiles.ts';
import type { ProviderPool } from '../providers/provider-pool.ts';
import type { StreamProxy } from '../proxy/stream-proxy.ts';
import type { Settings } from '../settings.ts';
import type { GuardedFetch } from '../upstream/guarded-fetch.ts';
import type { UpstreamClient } from '../upstream/upstream.ts';
import type { RequestContextFactory } from './request-context-factory.ts';
import type { RateLimits } from './rate-limits.ts';

/** Reads from the upstream addons for a request. */
export interface Catalog {
  readonly aggregator: Aggregator;
  readonly requestContexts: RequestContextFactory;
  readonly upstream: UpstreamClient;
  readonly guardedFetch: GuardedFetch;
}

/** Plays streams from their providers. */
export interface Playback {
  readonly pool: ProviderPool;
  readonly links: PlaybackLinks;
  readonly player: Player;
  readonly precacher: Precacher;
  readonly proxy: StreamProxy;
}

/** Counts and limits requests. */
export interface Traffic {
  readonly limits: RateLimits;
  readonly metrics: AddonMetrics;
}

/** Dependencies of the routes. */
export interface RouteDependencies {
  readonly context: Context;
  readonly settings: Settings;
  readonly profiles: Profiles;
  readonly activity: Activity;
  readonly plans: PlanMonitor;
  readonly catalog: Catalog;
  readonly playback: Playback;
  readonly traffic: Traffic;
}
