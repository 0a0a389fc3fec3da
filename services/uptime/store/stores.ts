import type { Context } from '../../contracts/service.ts';
import type { DockerHost } from '../../contracts/uptime/views.ts';
import { ApiKeys } from './api-keys.ts';
import { BucketStore } from './buckets.ts';
import { DockerHosts } from './docker-hosts.ts';
import { HeartbeatStore } from './heartbeats.ts';
import { IncidentStore } from './incidents.ts';
import { Notifications } from './notifications.ts';
import { Proxies, type StoredProxy } from './proxies.ts';
import { Tags } from './tags.ts';

/** Stores that several features use. */
export interface UptimeStores {
  readonly heartbeats: HeartbeatStore;
  readonly buckets: BucketStore;
  readonly incidents: IncidentStore;
  readonly keys: ApiKeys;
  readonly tags: Tags;
  readonly notifications: Notifications;
  readonly dockerHosts: DockerHosts;
  readonly proxies: Proxies;
}

interface StoreEvents {
  readonly onKeysChange: () => void;
  /** Also called when the stored engines were loaded. */
  readonly onDockerHostsChange: (list: readonly DockerHost[]) => void;
  /** Also called when the stored proxies were loaded. */
  readonly onProxiesChange: (list: readonly StoredProxy[]) => void;
}

export function createStores(
  context: Context,
  { onKeysChange, onDockerHostsChange, onProxiesChange }: StoreEvents,
): UptimeStores {
  return {
    heartbeats: new HeartbeatStore(context.db),
    buckets: new BucketStore(context.db),
    incidents: new IncidentStore(context.db),
    keys: new ApiKeys(context, onKeysChange),
    tags: new Tags(context),
    notifications: new Notifications(context),
    dockerHosts: new DockerHosts(context, onDockerHostsChange),
    proxies: new Proxies(context, onProxiesChange),
  };
}

/** Loads the stores that keep their rows in memory. */
export async function loadStores({ dockerHosts, notifications, proxies, tags }: UptimeStores): Promise<void> {
  await notifications.start();
  await tags.start();
  await dockerHosts.start();
  await proxies.start();
}
