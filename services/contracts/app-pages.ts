import type { IncomingMessage } from 'node:http';

/** Addresses at which the app's pages are reachable. All are base addresses without a trailing slash. */
export interface AppPages {
  /**
   * Returns the base address of the app's pages for the sender of a request: that of the local listener on this
   * computer, that of the shared app through the gateway, or the public address of the settings behind another proxy.
   * Undefined when the sender cannot reach the pages.
   */
  readonly forRequest: (request: IncomingMessage) => string | undefined;
  /**
   * Returns the base address for links in messages, which other devices receive as well: the public address of the
   * settings, else the shared address, else the local one. Undefined while there are no pages.
   */
  readonly forMessages: () => string | undefined;
  /**
   * Returns the base address of a service for links in messages, such as emails and webhooks: its shared address, else
   * the local one. Undefined while it has neither.
   */
  readonly serviceForMessages: (serviceId: string) => string | undefined;
}

/** Addresses at which a gateway shares services. */
export interface SharedAddresses {
  /** Returns the address of a service for the sender of a request that came through the gateway, if it is shared. */
  readonly forRequest: (serviceId: string, request: IncomingMessage) => string | undefined;
  /** Returns the address of a shared service that every device of the network can use. */
  readonly forDevices: (serviceId: string) => string | undefined;
  /** Returns the address of the gateway's page for one-time links; undefined while nothing is shared. */
  readonly oneTimeLinkPage: () => string | undefined;
}
