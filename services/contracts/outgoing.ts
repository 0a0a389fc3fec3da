import type { Readable } from 'node:stream';
import type { Socket } from 'node:net';

export interface FetchOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Whole exchange, default 30,000 ms. */
  readonly timeoutMs?: number;
  /** More of an answer's body is an error, default 1 MiB. */
  readonly maxBytes?: number;
  /** Default 5; each hop is checked again. */
  readonly maxRedirects?: number;
  /** `manual`: a redirect is an answer like any other, for who checks each address himself. Default: it is followed. */
  readonly redirect?: 'follow' | 'manual';
  /** True: a POST that is redirected with 301 or 302 stays one, since its body is what matters. Default: it becomes a GET, as in browsers. */
  readonly keepMethod?: boolean;
  /** `owner`: the address was typed by the owner, who may reach his own network; a redirect to another host is checked all the same. `other` (default): loopback, private, link-local and metadata addresses are refused. */
  readonly trust?: 'owner' | 'other';
  /**
   * Base address of the calling service's own listener, for a service that has to reach itself. The listeners of other
   * services stay out of reach.
   */
  readonly ownListener?: string;
  /**
   * False: the host of this address may show any certificate. Only for an address the owner typed and only where he said so;
   * a redirect to another host is checked all the same. Default true.
   */
  readonly verify?: boolean;
}
export interface FetchReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Where the last redirect led. */
  readonly url: string;
}
/**
 * Outgoing HTTP. Requests never reach a listener of Homeport itself, whatever their `trust`: services reach each other by
 * handovers. @throws Problem `fetch.own_listener` (403), `fetch.refused_address` (403), `fetch.timeout` (504), `fetch.too_large` (502), `fetch.untrusted` (502) for a certificate that is not trusted, `fetch.failed` (502).
 */
export type Fetch = (url: string, options?: FetchOptions) => Promise<FetchReply>;

export interface StreamOptions extends Omit<FetchOptions, 'body' | 'timeoutMs' | 'maxBytes'> {
  /** A stream is sent once: a redirect that would need it again is an error. */
  readonly body?: string | Uint8Array | Readable;
  /** From the request to the answer's headers, default 30,000 ms. */
  readonly headersTimeoutMs?: number;
  /** Silence in the middle of a body is an error after so long, default 60,000 ms. */
  readonly idleTimeoutMs?: number;
}
export interface StreamReply extends Omit<FetchReply, 'body'> {
  /** As it comes, still in the answer's content-encoding; none is asked for unless the headers do. Destroying it frees the connection. */
  readonly body: Readable;
}
/** As {@link Fetch}, for bodies of any length: nothing is gathered, ranges pass, and the signal also ends the body. */
export type FetchStream = (url: string, options?: StreamOptions) => Promise<StreamReply>;

export interface ConnectOptions {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; `verify` false takes any certificate and tells what is wrong with it. */
  readonly tls?: { readonly servername?: string; readonly verify?: boolean; readonly alpn?: readonly string[] };
  /** As in {@link FetchOptions}. */
  readonly trust?: 'owner' | 'other';
  /** For the name, the connection and the handshake together, default 10,000 ms. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** What a server's certificate says. */
export interface CertificateInfo {
  readonly subject: string;
  readonly issuer: string;
  readonly names: readonly string[];
  /** ms since the epoch. */
  readonly validFrom: number;
  readonly validTo: number;
  /** SHA-256, hex pairs with colons. */
  readonly fingerprint: string;
  /** Null: trusted; else what is wrong, as part of a sentence. */
  readonly problem: string | null;
}

/** An open connection and how it came about. */
export interface OutgoingConnection {
  readonly socket: Socket;
  readonly address: string;
  /** Durations in ms; `dns` is 0 for an address, `tls` undefined without TLS. */
  readonly phases: { readonly dns: number; readonly connect: number; readonly tls: number | undefined };
  readonly certificate: CertificateInfo | undefined;
  /** The protocol both agreed on by ALPN. */
  readonly protocol: string | undefined;
}

/** Opens a TCP or TLS connection to an address that was checked as with {@link Fetch}, and throws the same Problems. */
export type Connect = (options: ConnectOptions) => Promise<OutgoingConnection>;
