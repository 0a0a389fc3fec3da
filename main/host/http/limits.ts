/** Limits that prevent slow or hostile clients from occupying a listener. Times in ms. */
export interface ListenerLimits {
  /** Time until the request line and all headers have arrived. Default 60,000. */
  readonly headersTimeoutMs: number;
  /** Maximum pause within a request body. Default 60,000. */
  readonly bodyStallMs: number;
  /** Maximum time of lingering for a client that sends after the response. Default 30,000. */
  readonly lingerMs: number;
  /** Maximum silence while lingering. Default 5,000. */
  readonly silenceMs: number;
  /** Time until an idle connection is closed. Default 75,000, more than common proxies assume. */
  readonly keepAliveMs: number;
  /** Request line and headers. Default 64 KiB: addon addresses contain a whole configuration in their path. */
  readonly maxHeaderBytes: number;
  /** Connections per listening address; further ones are closed immediately. Default 16,384. */
  readonly maxConnections: number;
}

export const defaultLimits: ListenerLimits = {
  headersTimeoutMs: 60_000,
  bodyStallMs: 60_000,
  lingerMs: 30_000,
  silenceMs: 5000,
  keepAliveMs: 75_000,
  maxHeaderBytes: 64 * 1024,
  maxConnections: 16_384,
};
