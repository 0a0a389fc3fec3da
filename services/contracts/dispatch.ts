import type { IncomingMessage, RequestListener } from 'node:http';
import type { SharedAddresses } from './app-pages.ts';
import type { ProviderAccount, ProviderUser } from './control/provider-users.ts';
import type { Context, ServiceGroup } from './service.ts';
import type { ListenerHandler, UpgradeListener } from './listeners.ts';

/**
 * Handlers of another service's main listener for calls within the process. Guard, access log and metrics apply as on
 * its own port, and the caller's host names are accepted.
 */
export interface DispatchHandlers {
  readonly request: RequestListener;
  readonly upgrade: UpgradeListener;
}

/** Service with an HTTP listener, as a dispatching service sees it. */
export interface DispatchTarget {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** Benefit for the members of a household. */
  readonly sharedSummary: string;
  readonly group: ServiceGroup | undefined;
  /** Port of the main listener; undefined while it is closed. */
  readonly port: number | undefined;
  /** Its routes check credentials themselves. */
  readonly authenticates: boolean;
  /** Its pages work only at the root of an origin, not below a path. */
  readonly needsRoot: boolean;
  /** Further host names, such as the domain of a status page. */
  readonly hosts: readonly string[];
}

/** Handles a connection together with the remote address, like a connection to the service's own port. */
export type ConnectionHandler = NonNullable<ListenerHandler['tcp']>;

/** Listener of a service for a protocol other than HTTP, as a dispatching service sees it. */
export interface PortTarget {
  /** Id in addresses: `mail` for a main listener, `git.ssh` for a further one. */
  readonly id: string;
  /** Id of the service. */
  readonly service: string;
  /** Title of the listener: `Git over SSH`. */
  readonly title: string;
  /** Scheme of its addresses. */
  readonly scheme: string;
  /** Undefined while the listener is closed. */
  readonly port: number | undefined;
  /** Sentence on the consequence of access by other computers. */
  readonly whenShared?: string;
}

/** Certificate chain and private key in PEM. */
export interface CertificatePem {
  readonly cert: string;
  readonly key: string;
}

/** Certificate for the host names that it lists, such as `home.example.org` and `*.home.example.org`. */
export interface NamedCertificate extends CertificatePem {
  readonly names: readonly string[];
}

/** Certificate of a listener, with further ones for clients that request their host names (RFC 6066, 3). */
export interface ListenerCertificate extends CertificatePem {
  readonly named?: readonly NamedCertificate[];
}

/** Address, certificate and handlers of a listener that other devices reach. */
export interface ExternalListenerOptions {
  /** Addresses of this computer to listen on. */
  readonly hosts: readonly string[];
  readonly port: number;
  /** When set, the listener accepts TLS only, with HTTP/1.1 and HTTP/2. */
  readonly certificate?: ListenerCertificate;
  /** Returns whether to accept a connection; refused connections are closed before any byte is read. */
  readonly accepts: (remoteAddress: string) => boolean;
  /** With `tcp`, the listener does not handle HTTP. */
  readonly handler: ListenerHandler;
}

/** Listener on addresses that other computers can reach. */
export interface ExternalListener {
  readonly port: number;
  /** Replaces the certificate for new connections. */
  replaceCertificate(certificate: ListenerCertificate): void;
  close(): Promise<void>;
}

/** Context of services with the capability `dispatch`. */
export interface DispatchContext extends Context {
  /**
   * Returns the handlers of a service; undefined while it does not answer HTTP. Call it for each request, since the
   * service may restart.
   */
  readonly dispatch: (serviceId: string) => DispatchHandlers | undefined;
  /** Other services with an HTTP listener, in the order of the app. */
  readonly targets: () => readonly DispatchTarget[];
  /** Listeners of other services for protocols other than HTTP. */
  readonly ports: () => readonly PortTarget[];
  /** Returns the handler of a port; undefined while it is closed. Call it for each connection. */
  readonly getConnectionHandler: (portId: string) => ConnectionHandler | undefined;
  /**
   * Opens a listener that other computers can reach, with the limits, access log and host check of every listener. It
   * closes together with the service. Requests of other origins that change something are passed on without cookies.
   * @throws Problem `listener.port_taken` (409), `listener.port_forbidden` (403), `listener.no_address` (500).
   */
  readonly listen: (options: ExternalListenerOptions) => Promise<ExternalListener>;
  /**
   * Opens a session for an account that another party authenticated, such as an OpenID provider that the owner
   * trusts.
   * @throws Problem `accounts.unknown` (404), `accounts.bad_credentials` (401) for a disabled account.
   */
  readonly openSession: (
    account: string,
    from: { readonly remoteAddress: string; readonly userAgent: string },
  ) => ReturnType<Context['accounts']['signIn']>;
  /** Finds or creates the account of a user of an OpenID provider, and applies the role and grants of the groups. */
  readonly resolveProviderUser: (user: ProviderUser) => Promise<ProviderAccount>;
  /** Registers the addresses at which services are shared, until the disposal. */
  readonly shareAddresses: (shared: SharedAddresses) => Disposable;
  /** Returns whether a trusted proxy sent the request, by the host's settings. */
  readonly isFromTrustedProxy: (request: IncomingMessage) => boolean;
}
