import type { IncomingMessage, RequestListener } from 'node:http';
import type { SharedAddresses } from './app-pages.ts';
import type { Context, ServiceGroup } from './service.ts';
import type { ListenerHandler, UpgradeListener } from './listeners.ts';

/**
 * The main listener of another service, called in the process: its guard, its access log and its metrics stand before it as
 * they do for its own port, and it takes the names for its own that the caller answers to.
 */
export interface DispatchHandlers {
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
  /** Its pages work only at the root of an address, not below a path. */
  readonly needsRoot: boolean;
  /** Further names under which it answers, such as one that a person has given to a page of it. */
  readonly hosts: readonly string[];
}

/** Takes over a connection, with the address of its other side: the service sees it as one that came to its own port. */
export type ConnectionHandler = NonNullable<ListenerHandler['tcp']>;

/** A listener of a service that speaks something else than HTTP, as one sees it who hands it connections. */
export interface PortTarget {
  /** As addresses name it: `mail` for a main listener, `git.ssh` for a further one. */
  readonly id: string;
  /** The service's id. */
  readonly service: string;
  /** Of the listener: `Git over SSH`. */
  readonly title: string;
  /** What its addresses begin with. */
  readonly scheme: string;
  /** Undefined while it is not open. */
  readonly port: number | undefined;
  /** What it means that other machines reach it, in a sentence. */
  readonly whenShared?: string;
}

/** A certificate with its chain, and its key, in PEM. */
export interface CertificatePem {
  readonly cert: string;
  readonly key: string;
}

export interface ExternalListenerOptions {
  /** The addresses of this machine that it listens on. */
  readonly hosts: readonly string[];
  readonly port: number;
  /** With one it speaks TLS alone: HTTP/1.1 and HTTP/2. */
  readonly certificate?: CertificatePem;
  /** Connections of other addresses are closed before a byte of them is read. */
  readonly accepts: (remoteAddress: string) => boolean;
  /** With `tcp` it speaks no HTTP. */
  readonly handler: ListenerHandler;
}

/** A listener on other addresses than those of this machine alone. */
export interface ExternalListener {
  readonly port: number;
  /** Shown to whoever connects from now on. */
  replaceCertificate(certificate: CertificatePem): void;
  close(): Promise<void>;
}

/** What the capability `dispatch` gives. */
export interface DispatchContext extends Context {
  /** Undefined while that service answers no HTTP; ask at each request, since it may be started anew. */
  readonly dispatch: (serviceId: string) => DispatchHandlers | undefined;
  /** The other services that answer HTTP, in the order of the app. */
  readonly targets: () => readonly DispatchTarget[];
  /** The listeners of other services that speak something else than HTTP. */
  readonly ports: () => readonly PortTarget[];
  /** What takes connections for one of them; undefined while that is not open. Ask at each connection. */
  readonly getConnectionHandler: (portId: string) => ConnectionHandler | undefined;
  /**
   * Opens a listener that other machines reach, with the limits, the access log and the look at the host name that every
   * listener has; it closes with the service. Pages of other origins lose their cookies where they change something, and
   * are let through. @throws Problem `listener.port_taken` (409), `listener.port_forbidden` (403), `listener.no_address` (500).
   */
  readonly listen: (options: ExternalListenerOptions) => Promise<ExternalListener>;
  /**
   * Opens a session for a person whom somebody else has proven, such as an OpenID provider that the owner trusts.
   * @throws Problem `accounts.unknown` (404), `accounts.bad_credentials` (401) where the account is switched off.
   */
  readonly openSession: (
    account: string,
    from: { readonly remoteAddress: string; readonly userAgent: string },
  ) => ReturnType<Context['accounts']['signIn']>;
  /** Registers the addresses under which services are shared, until the disposal. */
  readonly shareAddresses: (shared: SharedAddresses) => Disposable;
  /** Whether it was sent by a proxy whose word on others is believed: a setting of the host. */
  readonly isFromTrustedProxy: (request: IncomingMessage) => boolean;
}
