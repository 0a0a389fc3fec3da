import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { AppPages, SharedAddresses } from '../../../services/contracts/app-pages.ts';
import { isGatewayRequest } from '../../../services/contracts/gateway.ts';

/** Id of the service that serves the app's pages. */
const pagesService = 'control';
const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'];

interface AppAddressesOptions {
  /** Returns the local base address of a service. */
  readonly address: (serviceId: string) => string | undefined;
  /** Returns the public address of the settings, empty when there is none. */
  readonly publicUrl: () => string;
}

/** Finds the address of the app's pages for each client, from the settings, the local listener and the gateway. */
export class AppAddresses implements AppPages {
  readonly #options: AppAddressesOptions;
  #shared: SharedAddresses | undefined;

  constructor(options: AppAddressesOptions) {
    this.#options = options;
  }

  /** Registers the gateway as the source of shared addresses until the disposal. */
  share(shared: SharedAddresses): Disposable {
    this.#shared = shared;
    return {
      [Symbol.dispose]: () => {
        if (this.#shared === shared) this.#shared = undefined;
      },
    };
  }

  readonly forRequest = (request: IncomingMessage): string | undefined => {
    if (isGatewayRequest(request)) return this.#shared?.forRequest(pagesService, request) ?? this.#configured;
    if (!isDirect(request)) return this.#configured;
    return withRequestHost(this.#options.address(pagesService), request);
  };

  readonly forMessages = (): string | undefined =>
    this.#configured ?? this.#shared?.forDevices(pagesService) ?? this.#options.address(pagesService);

  readonly serviceForMessages = (serviceId: string): string | undefined =>
    this.#shared?.forDevices(serviceId) ?? this.#options.address(serviceId);

  /**
   * Returns the addresses of the pages that accept one-time links: the one that other devices reach, if any, and the
   * one for this computer.
   */
  listOneTimeLinkPages(): readonly string[] {
    const shared = this.#configured ?? this.#shared?.forDevices(pagesService);
    const forDevices = shared === undefined ? this.#shared?.oneTimeLinkPage() : `${shared}/link`;
    const local = this.#options.address(pagesService);
    const pages = [forDevices, local === undefined ? undefined : `${local}/link`];
    return [...new Set(pages.filter((page) => page !== undefined))];
  }

  /** Returns the path of a page of the app on this computer; undefined for other addresses. */
  findPath(link: string): string | undefined {
    const bases = [this.#configured, this.#shared?.forDevices(pagesService), this.#options.address(pagesService)];
    const base = bases.find((each) => each !== undefined && (link === each || link.startsWith(`${each}/`)));
    return base === undefined ? undefined : link.slice(base.length);
  }

  get #configured(): string | undefined {
    const url = this.#options.publicUrl().replace(/\/+$/, '');
    return url === '' ? undefined : url;
  }
}

/**
 * Returns whether a request reached the listener without a proxy. A proxy either adds a header or is reached at
 * another port; the app's own port is not reachable there.
 */
function isDirect({ headers, socket }: IncomingMessage): boolean {
  if (proxyHeaders.some((name) => headers[name] !== undefined)) return false;
  const url = URL.parse(`http://${headers.host ?? ''}`);
  if (url === null) return false;
  const port = url.port === '' ? ('encrypted' in socket ? '443' : '80') : url.port;
  return port === String(socket.localPort) || isForwardedPort(url.hostname);
}

/**
 * A loopback name with another port is a port that a tunnel or a container forwards; then all ports may be forwarded.
 */
function isForwardedPort(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
}

/** Preserves the host name that the browser used for this computer, since its session belongs to that name. */
function withRequestHost(page: string | undefined, { headers }: IncomingMessage): string | undefined {
  const url = URL.parse(page ?? '');
  if (url === null) return undefined;
  const hostname = URL.parse(`http://${headers.host ?? ''}`)?.hostname;
  if (hostname !== undefined && hostname !== '') url.hostname = hostname;
  return url.href.replace(/\/$/, '');
}
