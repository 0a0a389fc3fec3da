import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Called for WebSocket upgrades, after the Host and Origin guard. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** What answers on one of a service's listeners. */
export interface ListenerHandler {
  /** An express app, or a faster handler in front of one where a benchmark asks for it. */
  readonly http?: RequestListener;
  readonly upgrade?: UpgradeListener;
  /**
   * For a listener that speaks something else than HTTP: called with each connection the host accepted. `leaving` is there for
   * one that came by another way, and aborts when that is about to close: what is idle ends at once then, and the rest when it
   * is done. The way waits for it only for a moment.
   */
  readonly tcp?: (socket: Socket, leaving?: AbortSignal) => void;
}

/** Which browser requests of another origin a listener lets through to its service. */
export type CrossOrigin =
  /** None but the configured origins (and browser extensions, where the setting allows them). */
  | 'refuse'
  /** Those that carry their credential in the Authorization header, as web clients of the peer do. `auth` in the address is for allowed origins and extensions; cookies are never looked at. */
  | 'credentialed'
  /** All: the answers are public by nature, as with Stremio addons. */
  | 'any';

/** A port that a service listens on, on 127.0.0.1 and ::1. */
export interface ListenerManifest<Settings = any> {
  /** Lower case letters and digits, unique within the service: `ssh`. */
  readonly name: string;
  /** What it is for, as the settings and the pages name it: `Git over SSH`. */
  readonly title: string;
  readonly protocol: 'http' | 'tcp';
  /** What its addresses begin with, e.g. `smtp`. Default: the protocol's name. */
  readonly scheme?: string;
  /** The port when nothing is set. */
  readonly port: number;
  readonly crossOrigin?: CrossOrigin;
  /** It answers `/metrics` itself, as its peer's dashboards know it; without, the host does. */
  readonly ownMetricsPage?: true;
  /** Its routes ask for credentials themselves where they need any: a gateway lets requests through without a sign-in of its own. */
  readonly authenticates?: true;
  /** Of one that speaks something else than HTTP: what it means that a gateway lets other machines reach it, in a sentence. */
  readonly whenShared?: string;
  /** By these settings it speaks TLS: paths of the certificate with its chain, and of its key, in PEM. Read at each start. */
  tls?(settings: Settings): CertificateFiles | undefined;
}

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}
