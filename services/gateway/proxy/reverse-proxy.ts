import * as m from '#messages/gateway-problems';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import type { Duplex } from 'node:stream';
import type {
  DispatchContext,
  DispatchHandlers,
  DispatchTarget,
  ExternalListenerOptions,
} from '../../contracts/dispatch.ts';
import type { Exposure } from '../../contracts/gateway/api.ts';
import { getGatewayIdentity, setGatewayIdentity } from '../../contracts/gateway.ts';
import { Problem } from '../../contracts/problem.ts';
import { endUnread } from '../../kit/http/errors.ts';
import { addHeaders } from '../../kit/http/respond.ts';
import { isReservedName, listBaseNames, stripMappedPrefix, stripPort } from '../domain/names.ts';
import { isPublicPath } from '../domain/public-paths.ts';
import { gatewayPrefix, findRoute, type Route } from '../domain/route.ts';
import type { Provider } from '../oidc/provider.ts';
import { OidcRoutes } from '../oidc/routes.ts';
import type { Upstreams } from '../external-services/upstreams.ts';
import { hideCookies, type SessionCookie } from '../sign-in/cookie.ts';
import type { Gate } from '../sign-in/gate.ts';
import type { SignedInAccounts } from '../sign-in/signed-in-account.ts';
import { moveSessionToApp } from '../sign-in/app-session.ts';
import { oneTimeLinkScript } from '../sign-in/one-time-link-pages.ts';
import { OneTimeLinkRoutes } from '../sign-in/one-time-links.ts';
import { passkeyScript } from '../sign-in/pages.ts';
import { verify } from '../sign-in/verify.ts';
import { SignInRoutes } from '../sign-in/routes.ts';
import { redirect, refuseUpgrade, send, sendHtml, sendsForm, wantsPage } from '../pages/responses.ts';
import { renderHomePage } from './home.ts';
import { removeProxyHeaders } from './forwarded-headers.ts';
import { renderProblemPage } from '../pages/problem-page.ts';
import { runInPageLanguage } from '../pages/language.ts';
import { sendPageFile } from '../pages/page-files.ts';
import { getOutcome, type GatewayMetrics } from '../metrics.ts';
import { InFlightRequests, type AdmittedRequest } from './in-flight-requests.ts';

/** Paths below the prefix of the gateway for load balancers. */
const healthPaths: ReadonlySet<string> = new Set(['health/live', 'health/ready']);

/** Scripts of the gateway's pages by path. */
const pageScripts: ReadonlyMap<string, string> = new Map([
  ['passkey.js', passkeyScript],
  ['link.js', oneTimeLinkScript],
]);

const hstsOfYear = 'max-age=31536000';

/** Sign-in on the gateway, with the accounts that are signed in. */
export interface ProxySignIn {
  readonly gate: Gate;
  readonly cookie: SessionCookie;
  readonly signedIn: SignedInAccounts;
  readonly provider: Provider;
  readonly label: string;
  /** Domain of the owner; empty without one. */
  readonly domain: () => string;
}

/** Services that the gateway forwards to, and how they are shared. */
export interface ProxyRouting {
  /** Services of Homeport and external services. */
  readonly targets: () => readonly DispatchTarget[];
  readonly upstreams: Upstreams;
  readonly exposure: (service: string) => Exposure;
  /** Returns the address of a shared service for a client. */
  readonly addressFor: (service: string, request: IncomingMessage) => string | undefined;
}

/** Rules for requests before a sign-in is checked. */
export interface ProxyPolicy {
  /** Public paths. */
  readonly publicPaths: () => readonly string[];
  /** Sends HSTS headers for all names. */
  readonly isStrict: () => boolean;
  /** Returns true for addresses of admitted networks. */
  readonly isAdmittedAddress: (address: string) => boolean;
}

export interface ReverseProxyDependencies {
  readonly context: DispatchContext;
  readonly signIn: ProxySignIn;
  readonly routing: ProxyRouting;
  readonly metrics: GatewayMetrics;
  readonly policy: ProxyPolicy;
}

/**
 * Request handler of the TLS listeners: finds the service of a request, authenticates the client when required, and
 * passes the request on.
 */
export class ReverseProxy {
  readonly #deps: ReverseProxyDependencies;
  readonly #signIn: SignInRoutes;
  readonly #oidc: OidcRoutes;
  readonly #links: OneTimeLinkRoutes;
  readonly #inFlight = new InFlightRequests();
  readonly #isShared = (id: string): boolean => this.#deps.routing.exposure(id) !== 'off';
  readonly #findOwner = (name: string): string | undefined =>
    isReservedName(name, this.#deps.signIn.label, hostname(), this.#deps.signIn.domain())
      ? undefined
      : this.#deps.context.targets().find(({ hosts }) => hosts.includes(name))?.id;

  constructor(deps: ReverseProxyDependencies) {
    this.#deps = deps;
    const { context, metrics, signIn } = deps;
    this.#signIn = new SignInRoutes({ context, metrics, ...signIn });
    this.#oidc = new OidcRoutes({ context, metrics, ...signIn });
    this.#links = new OneTimeLinkRoutes({ context, signIn: this.#signIn });
  }

  /** @param portService Service of the port */
  handler(portService: string | undefined): ExternalListenerOptions['handler'] {
    return {
      http: (request, response) => {
        // Connections persist when the networks change.
        if (!this.#deps.policy.isAdmittedAddress(getClientAddress(request))) return void request.destroy();
        this.#setHsts(request, response);
        this.#handle(request, response, portService).catch((error: unknown) =>
          this.refuse(request, response, error, portService),
        );
      },
      upgrade: (request, socket, head) => {
        if (!this.#deps.policy.isAdmittedAddress(getClientAddress(request))) return void socket.destroy();
        this.#upgrade(request, socket, head, portService).catch((error: unknown) => this.#refuseUpgrade(socket, error));
      },
    };
  }

  /**
   * Sends HSTS for the names of services. The name of the computer and custom names need the setting, because browsers
   * apply it to all ports of a name, and other programs there may not use TLS. RFC 6797 does not allow it for addresses.
   */
  #setHsts({ headers }: IncomingMessage, response: ServerResponse): void {
    const name = stripPort(headers.host ?? '');
    const { label, domain } = this.#deps.signIn;
    if (listBaseNames(label, domain()).some((base) => name.endsWith(`.${base}`))) {
      addHeaders(response, { 'Strict-Transport-Security': `${hstsOfYear}; includeSubDomains` });
    } else if (this.#deps.policy.isStrict() && !/^(?:[\d.]+|\[.*\]|localhost|)$/.test(name)) {
      addHeaders(response, { 'Strict-Transport-Security': hstsOfYear });
    }
  }

  /** Number of running requests and WebSockets. */
  get open(): number {
    return this.#inFlight.size;
  }

  /** Ends exchanges that are no longer permitted. */
  endRevoked(): void {
    const { gate } = this.#deps.signIn;
    const { isAdmittedAddress } = this.#deps.policy;
    const { targets } = this.#deps.routing;
    const targetIds = new Set(targets().map(({ id }) => id));
    this.#inFlight.endRevoked(({ service, identity, from, isPublic }) => {
      if (!targetIds.has(service) || !this.#isShared(service) || !isAdmittedAddress(from)) return false;
      if (isPublic || !this.#needsSignIn({ id: service })) return true;
      return identity !== undefined && gate.isStillAdmitted(identity, service);
    });
  }

  #route(request: IncomingMessage, portService: string | undefined, url = request.url ?? '/'): Route {
    // Paths are not offered for external services, whose pages would share the origin.
    const hasPath = (id: string): boolean => !this.#deps.routing.upstreams.has(id);
    const routedRequest = { host: request.headers.host ?? '', url, portService, domain: this.#deps.signIn.domain() };
    return findRoute(routedRequest, this.#deps.signIn.label, this.#isShared, this.#findOwner, hasPath);
  }

  /** Returns true when the app has the origin of a request for itself. */
  #isAppOrigin(request: IncomingMessage, portService: string | undefined): boolean {
    const route = this.#route(request, portService, '/');
    return route.to === 'service' && route.id === 'control';
  }

  /** @throws Problem `gateway.no_route` (404) at the origin of another service */
  #requireApp(isApp: boolean) {
    if (!isApp) throw createNotFound();
    return { context: this.#deps.context, cookie: this.#deps.signIn.cookie, signIn: this.#signIn };
  }

  /** Sends the name of the identity provider for the app's sign-in page. */
  #sendProvider(response: ServerResponse): void {
    const body = `${JSON.stringify({ name: this.#deps.signIn.provider.name ?? null })}\n`;
    send(response, { status: 200, type: 'application/json; charset=utf-8', body });
  }

  /** Returns the title of the service at a path; undefined without one. */
  #findTitle(request: IncomingMessage, portService: string | undefined, url: string): string | undefined {
    const route = this.#route(request, portService, url);
    return route.to === 'service' ? this.#deps.routing.targets().find(({ id }) => id === route.id)?.title : undefined;
  }

  async #handle(request: IncomingMessage, response: ServerResponse, portService: string | undefined): Promise<void> {
    // RFC 9110, 9.3.8: TRACE would reveal headers that are added in between.
    if (request.method === 'TRACE')
      throw new Problem('gateway.method', 405, m.traceNotAllowed, { headers: { Allow: 'GET, HEAD, POST' } });
    const route = this.#route(request, portService);
    switch (route.to) {
      case 'service': {
        const target = this.#target(route.id);
        const root = this.#findRootUrl(request, route);
        if (root !== undefined) return redirect(response, 302, root);
        if (this.#needsSignIn(route) && !(await this.#isAuthorized(request, response, route.id))) return;
        if (response.destroyed) return;
        this.#deps.metrics.request(route.id, 'passed');
        this.#inFlight.add(response, this.#toAdmitted(request, route));
        this.#prepare(request, route.url);
        target.request(request, response);
        return;
      }
      case 'gateway':
        return runInPageLanguage(request, () =>
          this.#handleGatewayPath(request, response, route.path, {
            findTitle: (url) => this.#findTitle(request, portService, url),
            isApp: this.#isAppOrigin(request, portService),
          }),
        );
      case 'redirect':
        return redirect(response, 308, route.location);
      case 'home': {
        const home = {
          label: this.#deps.signIn.label,
          port: request.socket.localPort ?? 0,
          hasPath: (id: string): boolean => !this.#deps.routing.upstreams.has(id),
        };
        return runInPageLanguage(request, () => {
          // Titles and summaries are in the current language, so the targets are read here.
          const shared = this.#deps.routing.targets().filter(({ id }) => this.#isShared(id));
          sendHtml(response, 200, renderHomePage(shared, home));
        });
      }
      case 'nothing':
        throw createNotFound();
    }
  }

  async #upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    portService: string | undefined,
  ): Promise<void> {
    const route = this.#route(request, portService);
    if (route.to === 'gateway') return this.#answerUpgrade(request, socket, portService);
    if (route.to !== 'service') throw createNotFound();
    const target = this.#target(route.id);
    if (this.#needsSignIn(route)) {
      const identity = await this.#deps.signIn.gate.identify(request);
      if (identity === undefined) throw createSignInRequired();
      // WebSockets of upstreams need write permission; services of Homeport check each operation.
      this.#deps.signIn.gate.admit(identity, route.id, request.method, this.#deps.routing.upstreams.has(route.id));
      setGatewayIdentity(request, identity);
    }
    if (socket.destroyed) return;
    this.#deps.metrics.request(route.id, 'passed');
    this.#inFlight.add(socket, this.#toAdmitted(request, route));
    this.#prepare(request, route.url);
    target.upgrade(request, socket, head);
  }

  /** Prepares a request for the service. */
  #prepare(request: IncomingMessage, url: string): void {
    hideCookies(request);
    if (!this.#deps.context.isFromTrustedProxy(request)) removeProxyHeaders(request);
    request.url = url;
  }

  /** Returns false when the request was redirected to the sign-in page. */
  #isAuthorized(request: IncomingMessage, response: ServerResponse, id: string): Promise<boolean> {
    return runInPageLanguage(request, () => this.#authorize(request, response, id));
  }

  async #authorize(request: IncomingMessage, response: ServerResponse, id: string): Promise<boolean> {
    // A preflight has no credentials; the actual request is checked.
    if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) return true;
    const { gate } = this.#deps.signIn;
    const identity = await gate.identify(request);
    if (identity === undefined) {
      const isForm = sendsForm(request);
      if (!wantsPage(request) && !isForm) throw createSignInRequired(request);
      this.#deps.metrics.request(id, 'sign_in');
      redirect(response, isForm ? 303 : 302, `${gatewayPrefix}sign-in?to=${encodeURIComponent(request.url ?? '/')}`);
      return false;
    }
    gate.admit(identity, id, request.method);
    setGatewayIdentity(request, identity);
    return true;
  }

  /** Returns the root address of a page that was requested below a path and only works at a root. */
  #findRootUrl(request: IncomingMessage, { id, url }: Extract<Route, { to: 'service' }>): string | undefined {
    if (request.url === url || !wantsPage(request)) return undefined;
    if (this.#deps.routing.targets().find((target) => target.id === id)?.needsRoot !== true) return undefined;
    const base = this.#deps.routing.addressFor(id, request);
    return base === undefined ? undefined : base + url;
  }

  #toAdmitted(request: IncomingMessage, { id, url }: Extract<Route, { to: 'service' }>): AdmittedRequest {
    const isPublic = isPublicPath(this.#deps.policy.publicPaths(), id, url);
    return { service: id, identity: getGatewayIdentity(request), from: getClientAddress(request), isPublic };
  }

  /** Handles upgrades of gateway routes, because proxies copy the upgrade headers into forward auth requests. */
  async #answerUpgrade(request: IncomingMessage, socket: Duplex, portService: string | undefined): Promise<void> {
    const route = this.#route(request, portService);
    if (route.to !== 'gateway' || !/^verify(?:\?|$)/.test(route.path)) throw createNotFound();
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.once('finish', () => socket.end());
    try {
      await this.#handle(request, response, portService);
    } catch (error) {
      this.refuse(request, response, error, portService);
    }
  }

  /** Checks the entire service without `url`. */
  #needsSignIn({ id, url }: { readonly id: string; readonly url?: string }): boolean {
    if (this.#deps.routing.exposure(id) !== 'sign-in') return false;
    if (url !== undefined && isPublicPath(this.#deps.policy.publicPaths(), id, url)) return false;
    return this.#deps.routing.targets().find((target) => target.id === id)?.authenticates !== true;
  }

  /** @throws Problem `gateway.service_down` (502) */
  #target(id: string): DispatchHandlers {
    const { context } = this.#deps;
    const { targets, upstreams } = this.#deps.routing;
    const target = context.dispatch(id) ?? upstreams.handlers(id);
    if (target !== undefined) return target;
    if (!targets().some((each) => each.id === id)) throw createNotFound();
    throw new Problem('gateway.service_down', 502, m.serviceDown, {
      headers: { 'Retry-After': '5' },
    });
  }

  async #handleGatewayPath(
    request: IncomingMessage,
    response: ServerResponse,
    pathAndQuery: string,
    { findTitle, isApp }: { readonly findTitle: (url: string) => string | undefined; readonly isApp: boolean },
  ): Promise<void> {
    const { context } = this.#deps;
    const { gate } = this.#deps.signIn;
    const [path = ''] = pathAndQuery.split('?', 1);
    const query = pathAndQuery.slice(path.length + 1);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead && (await sendPageFile(response, path))) return;
    if (healthPaths.has(path)) return this.#handleHealthPath(request, response, `/${path}`);
    const script = isRead ? pageScripts.get(path) : undefined;
    if (script !== undefined)
      return send(response, { status: 200, type: 'text/javascript; charset=utf-8', body: script });
    if (path === 'provider' && isRead) return this.#sendProvider(response);
    if (path === 'app-session') return moveSessionToApp(request, response, this.#requireApp(isApp));
    if (path === 'link') return this.#links.handle(request, response);
    if (path === 'sign-in') return this.#signIn.signIn(request, response, query, findTitle);
    if (path === 'continue' && isRead) return this.#signIn.continue(request, response, query);
    if (path === 'sign-out') return this.#signIn.signOut(request, response);
    if (path === 'verify') return verify(request, response, new URLSearchParams(query), { context, gate });
    if (path === 'oidc' && request.method === 'GET')
      return this.#oidc.begin(request, response, new URLSearchParams(query));
    if (path === 'oidc/callback' && request.method === 'GET') return this.#oidc.callback(request, response, query);
    if (path === 'session' && isRead) return this.#signIn.session(request, response);
    throw createNotFound();
  }

  /** Passes a request of a load balancer to the control service, even if that is not shared. */
  #handleHealthPath(request: IncomingMessage, response: ServerResponse, url: string): void {
    const control = this.#deps.context.dispatch('control');
    if (control === undefined) return send(response, { status: 503, type: 'text/plain; charset=utf-8', body: '' });
    request.url = url;
    control.request(request, response);
  }

  /** Sends an error, as a page for browsers. */
  readonly refuse = (
    request: IncomingMessage,
    response: ServerResponse,
    error: unknown,
    portService?: string,
  ): void => {
    const problem = this.#toProblem(error);
    this.#deps.metrics.request('', getOutcome(problem.status));
    if (response.headersSent || response.destroyed) return void response.destroy();
    endUnread(request, response);
    if (wantsPage(request)) {
      void runInPageLanguage(request, () => {
        if (response.headersSent || response.destroyed) return;
        const hasHome = this.#route(request, portService, '/').to === 'home';
        sendHtml(response, problem.status, renderProblemPage(problem, { hasHome }), problem.headers);
      });
      return;
    }
    const { code, detail, status, headers } = problem;
    const body = `${JSON.stringify({ error: { code, detail } })}\n`;
    send(response, { status, type: 'application/json; charset=utf-8', body, headers });
  };

  #refuseUpgrade(socket: Duplex, error: unknown): void {
    const problem = this.#toProblem(error);
    this.#deps.metrics.request('', getOutcome(problem.status));
    refuseUpgrade(socket, problem);
  }

  #toProblem(error: unknown): Problem {
    if (error instanceof Problem) return error;
    const id = this.#deps.context.random.text(12);
    this.#deps.context.log.error('request failed', { event: 'request_failed', id, error });
    return new Problem('internal', 500, () => m.internal({ id }));
  }
}

function getClientAddress({ socket }: IncomingMessage): string {
  return stripMappedPrefix(socket.remoteAddress);
}

/** Services that are not shared respond like missing ones. */
function createNotFound(): Problem {
  return new Problem('gateway.no_route', 404, m.notShared);
}

function createSignInRequired(request?: IncomingMessage): Problem {
  // A challenge in answers to scripts would open the browser's password dialog.
  const isPage = request?.headers['sec-fetch-mode'] !== undefined;
  const headers: Record<string, string> = isPage
    ? {}
    : { 'WWW-Authenticate': 'Basic realm="Homeport", charset="UTF-8"' };
  return new Problem('gateway.sign_in', 401, m.signInFirst, { headers });
}
