import type { Readable } from 'node:stream';
import type { Socket } from 'node:net';
import type { Text } from './text.ts';

/** Options of an outgoing request. Times are in milliseconds, sizes in bytes. */
export interface FetchOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Timeout of the whole exchange, default 30,000 ms. */
  readonly timeoutMs?: number;
  /** Maximum size of the response body, default 1 MiB. */
  readonly maxBytes?: number;
  /** Default 5; each hop is checked again. */
  readonly maxRedirects?: number;
  /**
   * `manual`: redirects are returned like other responses, for callers that check each address themselves. Default:
   * they are followed.
   */
  readonly redirect?: 'follow' | 'manual';
  /**
   * True: a POST that is redirected with 301 or 302 remains a POST, since its body matters. Default: it becomes a
   * GET, as in browsers.
   */
  readonly keepMethod?: boolean;
  /**
   * `owner`: the owner entered the address and may reach the local network; a redirect to another host is still
   * checked. `other` (default): loopback, private, link-local and metadata addresses are refused.
   */
  readonly trust?: 'owner' | 'other';
  /**
   * Base address of the calling service's own listener, for a service that calls itself. Listeners of other services
   * remain unreachable.
   */
  readonly ownListener?: string;
  /**
   * False: certificates of this host are not verified. Only for addresses that the owner entered and where the owner
   * disabled verification; a redirect to another host is still verified. Default true.
   */
  readonly verify?: boolean;
  /**
   * PEM certificates of authorities that are trusted for this host in addition to those of the system. Only for
   * addresses that the owner entered; a redirect to another host is verified without them.
   */
  readonly ca?: string;
}

/** Response with its complete body. Header names are in lower case. */
export interface FetchReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Final address after redirects. */
  readonly url: string;
}
/**
 * Sends an HTTP request. Requests never reach a listener of Homeport itself, whatever their `trust`: services call
 * each other through handovers.
 * @throws Problem `fetch.own_listener` (403), `fetch.refused_address` (403), `fetch.timeout` (504), `fetch.too_large`
 * (502), `fetch.untrusted` (502) for an untrusted certificate, `fetch.failed` (502).
 */
export type Fetch = (url: string, options?: FetchOptions) => Promise<FetchReply>;

/** Options of an outgoing request whose response is a stream. */
export interface StreamOptions extends Omit<FetchOptions, 'body' | 'timeoutMs' | 'maxBytes'> {
  /** A stream can be sent only once: a redirect that requires the body again fails. */
  readonly body?: string | Uint8Array | Readable;
  /** Time from the request to the response headers, default 30,000 ms. */
  readonly headersTimeoutMs?: number;
  /** Maximum pause within a body, default 60,000 ms. */
  readonly idleTimeoutMs?: number;
}

/** Response whose body is a stream. */
export interface StreamReply extends Omit<FetchReply, 'body'> {
  /**
   * Response body with its content-encoding; none is requested unless the headers do. Destroying it releases the
   * connection.
   */
  readonly body: Readable;
}
/**
 * Like {@link Fetch}, for bodies of any length: the body is not buffered, ranges are supported, and the signal also
 * ends the body.
 */
export type FetchStream = (url: string, options?: StreamOptions) => Promise<StreamReply>;

/** Options of an outgoing TCP or TLS connection. */
export interface ConnectOptions {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; `verify` false accepts any certificate and reports its errors. */
  readonly tls?: { readonly servername?: string; readonly verify?: boolean; readonly alpn?: readonly string[] };
  /** As in {@link FetchOptions}. */
  readonly trust?: 'owner' | 'other';
  /** Timeout for name resolution, connection and handshake together, default 10,000 ms. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Properties of a server's certificate. */
export interface CertificateInfo {
  readonly subject: string;
  readonly issuer: string;
  readonly names: readonly string[];
  /** ms since the epoch. */
  readonly validFrom: number;
  readonly validTo: number;
  /** SHA-256, hex pairs separated by colons. */
  readonly fingerprint: string;
  /** Null when trusted; else the error as part of a sentence for its reader. */
  readonly problem: Text | null;
}

/** Open connection with timing and certificate. */
export interface OutgoingConnection {
  readonly socket: Socket;
  readonly address: string;
  /** Durations in ms; `dns` is 0 for an IP address, `tls` undefined without TLS. */
  readonly phases: { readonly dns: number; readonly connect: number; readonly tls: number | undefined };
  readonly certificate: CertificateInfo | undefined;
  /** Protocol selected by ALPN. */
  readonly protocol: string | undefined;
}

/** Opens a TCP or TLS connection with the address checks and Problems of {@link Fetch}. */
export type Connect = (options: ConnectOptions) => Promise<OutgoingConnection>;
