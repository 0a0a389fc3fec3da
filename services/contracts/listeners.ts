import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Text } from './text.ts';

/** Called for WebSocket upgrades, after the Host and Origin guard. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Handlers of one listener of a service. */
export interface ListenerHandler {
  /** An express app, or a faster handler in front of it. */
  readonly http?: RequestListener;
  readonly upgrade?: UpgradeListener;
  /**
   * Handles accepted connections of a protocol other than HTTP. `leaving` is set for connections through a gateway
   * and aborts before the gateway closes: idle connections end immediately, others when they are done. The gateway
   * waits only briefly.
   */
  readonly tcp?: (socket: Socket, leaving?: AbortSignal) => void;
}

/** Cross-origin browser requests that a listener accepts. */
export type CrossOrigin =
  /** Only configured origins (and browser extensions, when the setting allows them). */
  | 'refuse'
  /**
   * Requests with credentials in the Authorization header, as web clients of the peer send them. `auth` in the
   * address is reserved for allowed origins and extensions; cookies are ignored.
   */
  | 'credentialed'
  /** All origins: the responses are public by design, as with Stremio addons. */
  | 'any';

/** Port that a service listens on, on 127.0.0.1 and ::1. */
export interface ListenerManifest<Settings = any> {
  /** Lower-case letters and digits, unique within the service: `ssh`. */
  readonly name: string;
  /** Title in settings and pages: `Git over SSH`. */
  readonly title: Text;
  readonly protocol: 'http' | 'tcp';
  /** Scheme of its addresses, e.g. `smtp`. Default: the protocol's name. */
  readonly scheme?: string;
  /** Default port. */
  readonly port: number;
  readonly crossOrigin?: CrossOrigin;
  /** The service answers `/metrics` itself in the format of its peer; otherwise the host does. */
  readonly ownMetricsPage?: true;
  /**
   * The host answers the app API and the pages on this listener. The service receives only the paths of these patterns,
   * in which `:name` stands for one segment: `/metrics/:service`.
   */
  readonly app?: { readonly ownPaths: readonly string[] };
  /** Routes authenticate clients themselves where needed, so a gateway passes requests without a sign-in. */
  readonly authenticates?: true;
  /** For protocols other than HTTP: sentence on the consequence of access by other computers. */
  readonly whenShared?: Text;
  /**
   * Returns the TLS files of the settings: certificate chain and key in PEM, read at each start. Undefined disables
   * TLS.
   */
  tls?(settings: Settings): CertificateFiles | undefined;
}

/** Paths of a TLS certificate chain and its private key, in PEM. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}
