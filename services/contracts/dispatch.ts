import type { IncomingMessage, RequestListener } from 'node:http';
import type { Context, ListenerHandler, ServiceGroup, UpgradeListener } from './service.ts';

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

/** A service that answers HTTP, as one sees it who hands it requests. */
export interface DispatchTarget {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  readonly group: ServiceGroup | undefined;
  /** Of its main listener; undefined while that is not open. */
  readonly port: number | undefined;
  /** Its routes ask for credentials themselves. */
  readonly authenticates: boolean;
  /** Further names under which it answers, such as one that a person has given to a page of it. */
  readonly hosts: readonly string[];
}

/** A certificate with its chain, and its key, in PEM. */
export interface CertificateText {
  readonly cert: string;
  readonly key: string;
}

export interface OutsideOptions {
  /** The addresses of this machine that it listens on. */
  readonly hosts: readonly string[];
  readonly port: number;
  /** With one it speaks TLS alone: HTTP/1.1 and HTTP/2. */
  readonly certificate?: CertificateText;
  /** Connections of other addresses are closed before a byte of them is read. */
  readonly accepts: (remoteAddress: string) => boolean;
  readonly handler: ListenerHandler;
}

/** A listener on other addresses than those of this machine alone. */
export interface OutsideListener {
  readonly port: number;
  /** Shown to whoever connects from now on. */
  replaceCertificate(certificate: CertificateText): void;
  close(): Promise<void>;
}

/** What the capability `dispatch` gives. */
export interface DispatchContext extends Context {
  /** Undefined while that service answers no HTTP; ask at each request, since it may be started anew. */
  readonly dispatch: (serviceId: string) => Dispatched | undefined;
  /** The other services that answer HTTP, in the order of the app. */
  readonly targets: () => readonly DispatchTarget[];
  /**
   * Opens a listener that other machines reach, with the limits, the access log and the look at the host name that every
   * listener has; it closes with the service. Pages of other origins lose their cookies where they change something, and
   * are let through. @throws Problem `listener.port_taken` (409), `listener.port_forbidden` (403), `listener.no_address` (500).
   */
  readonly listen: (options: OutsideOptions) => Promise<OutsideListener>;
  /**
   * Opens a session for a person whom somebody else has proven, such as an OpenID provider that the owner trusts.
   * @throws Problem `accounts.unknown` (404), `accounts.bad_credentials` (401) where the account is switched off.
   */
  readonly openSession: (
    account: string,
    from: { readonly remoteAddress: string; readonly userAgent: string },
  ) => ReturnType<Context['accounts']['signIn']>;
  /** Whether it was sent by a proxy whose word on others is believed: a setting of the host. */
  readonly isFromTrustedProxy: (request: IncomingMessage) => boolean;
}
