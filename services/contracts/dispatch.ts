import type { RequestListener } from 'node:http';
import type { Context, UpgradeListener } from './service.ts';

/** Further names under which a service answers, besides those of this machine and those of the settings. */
export interface Hosts {
  /** All that are in effect, lower case. */
  readonly names: readonly string[];
  /** Takes effect with the next request; the disposal takes them back. @throws Problem `hosts.invalid` (422). */
  add(names: readonly string[]): Disposable;
}

/**
 * The main listener of another service, called in the process: its guard, its access log and its metrics stand before it as
 * they do for its own port, and it takes the names for its own that the caller answers to.
 */
export interface Dispatched {
  readonly request: RequestListener;
  readonly upgrade: UpgradeListener;
}

/** What the capability `dispatch` gives. */
export interface DispatchContext extends Context {
  /** Undefined while that service answers no HTTP; ask at each request, since it may be started anew. */
  readonly dispatch: (serviceId: string) => Dispatched | undefined;
}
