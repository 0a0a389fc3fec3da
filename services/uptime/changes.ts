import { EventEmitter } from 'node:events';
import type { DockerHost } from '../contracts/uptime/views.ts';
import type { RuntimeMonitor } from './monitoring/monitor-state.ts';
import type { StoredHeartbeat } from './store/heartbeats.ts';
import type { StoredProxy } from './store/proxies.ts';

interface ChangeEvents {
  readonly heartbeat: [monitor: RuntimeMonitor, heartbeat: StoredHeartbeat];
  /** Monitors were added, changed or removed. */
  readonly monitors: [ids: readonly number[]];
  readonly maintenances: [];
  /** Status pages were loaded, changed or removed. */
  readonly statusPages: [];
  /** Container engines were loaded, changed or removed. */
  readonly dockerHosts: [list: readonly DockerHost[]];
  /** Proxies were loaded, changed or removed. */
  readonly proxies: [list: readonly StoredProxy[]];
  readonly keys: [];
}

/**
 * Changes within the service. Stores and the monitoring emit them; the socket of Uptime Kuma, which is created later,
 * sends them to its clients. Listeners are called synchronously.
 */
export class Changes extends EventEmitter<ChangeEvents> {}
