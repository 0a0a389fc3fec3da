/** Bounds that keep slow or hostile clients from holding a listener. Times in ms. */
export interface ListenerLimits {
  /** Until the request line and all headers are there. Default 60,000. */
  readonly headersTimeoutMs: number;
  /** A request body may stand still this long. Default 60,000. */
  readonly bodyStallMs: number;
  /** A client that still sends what was answered already is heard out for so long. Default 30,000. */
  readonly lingerMs: number;
  /** And no longer than it is silent for this time. Default 5,000. */
  readonly silenceMs: number;
  /** An idle connection is kept this long. Default 75,000, above what common proxies assume. */
  readonly keepAliveMs: number;
  /** Request line and headers. Default 64 KiB: addon addresses carry a whole configuration in their path. */
  readonly maxHeaderBytes: number;
  /** Per address listened on; further connections are closed at once. Default 16,384. */
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
