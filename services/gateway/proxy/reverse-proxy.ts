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
import { escapeHtml } from '../../kit/escape-html.ts';
import { isOfHouse } from '../domain/names.ts';
import { isPublicPath } from '../domain/public-paths.ts';
import { ownPrefix, findRoute, type Route } from '../domain/route.ts';
import type { Provider } from '../oidc/provider.ts';
import { OidcRoutes } from '../oidc/routes.ts';
import type { Upstreams } from '../external-services/upstreams.ts';
import { hideCookies, type SessionCookie } from '../sign-in/cookie.ts';
import type { Gate } from '../sign-in/gate.ts';
import type { SignedIn } from '../sign-in/signed-in-account.ts';
import { passkeyScript } from '../sign-in/pages.ts';
import { verify } from '../sign-in/verify.ts';
import { SignInRoutes } from '../sign-in/routes.ts';
import { redirect, send, sendHtml, sendsForm, wantsPage } from './responses.ts';
import { homePage } from './home.ts';
import { dropForwarded } from './forwarded-headers.ts';
import { page, style } from './html.ts';
import { outcomeOf, type GatewayMetrics } from './metrics.ts';
import { UnderWay, type Passed } from './in-flight-requests.ts';

export interface FrontParts {
  readonly context: DispatchContext;
  readonly gate: Gate;
  readonly cookie: SessionCookie;
  readonly signedIn: SignedIn;
  readonly provider: Provider;
  readonly label: string;
  /** Services of Homeport and external services. */
  readonly targets: () => readonly DispatchTarget[];
  readonly upstreams: Upstreams;
  readonly exposure: (service: string) => Exposure;
  /** Returns the address of a shared service for a client. */
  readonly addressFor: (service: string, request: IncomingMessage) => string | undefined;
  readonly metrics: GatewayMetrics;
  /** Public paths. */
  readonly publicPaths: () => readonly string[];
  /** Sends HSTS headers. */
  readonly isStrict: () => boolean;
  /** Returns true for addresses of admitted networks. */
  readonly accepts: (address: string) => boolean;
}

/**
 * Request handler of the TLS listeners: finds the service of a request, authenticates the client when required, and
 * passes the request on.
 */
export class Front {
  readonly #parts: FrontParts;
  readonly #signIn: SignInRoutes;
  readonly #oidc: OidcRoutes;
  readonly #underWay = new UnderWay();
  readonly #isShared = (id: string): boolean => this.#parts.exposure(id) !== 'off';
  readonly #ownerOf = (name: string): string | undefined =>
    isOfHouse(name, this.#parts.label, hostname())
      ? undefined
      : this.#parts.context.targets().find(({ hosts }) => hosts.includes(name))?.id;

  constructor(parts: FrontParts) {
    this.#parts = parts;
    this.#signIn = new SignInRoutes(parts);
    this.#oidc = new OidcRoutes(parts);
  }

  /** @param portOf Service of the port */
  handler(portOf: string | undefined): ExternalListenerOptions['handler'] {
    return {
      http: (request, response) => {
        // Connections persist when the networks change.
        if (!this.#parts.accepts(addressOf(request))) return void request.destroy();
        this.#requireHttps(request, response);
        this.#answer(request, response, portOf).catch((error: unknown) => this.refuse(request, response, error));
      },
      upgrade: (request, socket, head) => {
        if (!this.#parts.accepts(addressOf(request))) return void socket.destroy();
        this.#upgrade(request, socket, head, portOf).catch((error: unknown) => this.#refuseUpgrade(socket, error));
      },
    };
  }

  /** Sends HSTS for names; RFC 6797 does not allow it for addresses. */
  #requireHttps({ headers }: IncomingMessage, response: ServerResponse): void {
    const isName = !/^(?:[\d.]+|\[.*\]|localhost)(?::\d+)?$/.test(headers.host ?? '');
    if (isName && this.#parts.isStrict()) response.setHeader('Strict-Transport-Security', 'max-age=31536000');
  }

  /** Number of running requests and WebSockets. */
  get open(): number {
    return this.#underWay.size;
  }

  /** Ends exchanges that are no longer permitted. */
  review(): void {
    const { gate, accepts, targets } = this.#parts;
    const known = new Set(targets().map(({ id }) => id));
    this.#underWay.review(({ service, identity, from, isPublic }) => {
      if (!known.has(service) || !this.#isShared(service) || !accepts(from)) return false;
      if (isPublic || !this.#needsSignIn({ id: service })) return true;
      return identity !== undefined && gate.stillAdmits(identity, service);
    });
  }

  #route(request: IncomingMessage, portOf: string | undefined, url = request.url ?? '/'): Route {
    // Paths are not offered for external services, whose pages would share the origin.
    const hasPath = (id: string): boolean => !this.#parts.upstreams.has(id);
    const asked = { host: request.headers.host ?? '', url, portOf };
    return findRoute(asked, this.#parts.label, this.#isShared, this.#ownerOf, hasPath);
  }

  /** Returns the title of the service at a path; undefined without one. */
  #titleAt(request: IncomingMessage, portOf: string | undefined, url: string): string | undefined {
    const route = this.#route(request, portOf, url);
    return route.to === 'service' ? this.#parts.targets().find(({ id }) => id === route.id)?.title : undefined;
  }

  async #answer(request: IncomingMessage, response: ServerResponse, portOf: string | undefined): Promise<void> {
    // RFC 9110, 9.3.8: TRACE would reveal headers that are added in between.
    if (request.method === 'TRACE')
      throw new Problem('gateway.method', 405, 'TRACE is not allowed.', { headers: { Allow: 'GET, HEAD, POST' } });
    const route = this.#route(request, portOf);
    switch (route.to) {
      case 'service': {
        const target = this.#target(route.id);
        const root = this.#rootFor(request, route);
        if (root !== undefined) return redirect(response, 302, root);
        if (this.#needsSignIn(route) && !(await this.#admit(request, response, route.id))) return;
        if (response.destroyed) return;
        this.#parts.metrics.request(route.id, 'passed');
        this.#underWay.add(response, this.#passed(request, route));
        this.#tidy(request, route.url);
        target.request(request, response);
        return;
      }
      case 'own':
        return this.#own(request, response, route.path, (url) => this.#titleAt(request, portOf, url));
      case 'redirect':
        return redirect(response, 308, route.location);
      case 'home': {
        const shared = this.#parts.targets().filter(({ id }) => this.#isShared(id));
        const home = { label: this.#parts.label, port: request.socket.localPort ?? 0 };
        const hasPath = (id: string): boolean => !this.#parts.upstreams.has(id);
        return sendHtml(request, response, 200, homePage(shared, home, hasPath));
      }
      case 'nothing':
        throw nothing();
    }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, portOf: string | undefined): Promise<void> {
    const route = this.#route(request, portOf);
    if (route.to === 'own') return this.#answerUpgrade(request, socket, portOf);
    if (route.to !== 'service') throw nothing();
    const target = this.#target(route.id);
    if (this.#needsSignIn(route)) {
      const identity = await this.#parts.gate.identify(request);
      if (identity === undefined) throw signInFirst();
      // WebSockets of upstreams need write permission; services of Homeport check each operation.
      this.#parts.gate.admit(identity, route.id, request.method, this.#parts.upstreams.has(route.id));
      setGatewayIdentity(request, identity);
    }
    if (socket.destroyed) return;
    this.#parts.metrics.request(route.id, 'passed');
    this.#underWay.add(socket, this.#passed(request, route));
    this.#tidy(request, route.url);
    target.upgrade(request, socket, head);
  }

  /** Prepares a request for the service. */
  #tidy(request: IncomingMessage, url: string): void {
    hideCookies(request);
    if (!this.#parts.context.isFromTrustedProxy(request)) dropForwarded(request);
    request.url = url;
  }

  /** Returns false when the request was redirected to the sign-in page. */
  async #admit(request: IncomingMessage, response: ServerResponse, id: string): Promise<boolean> {
    // A preflight has no credentials; the actual request is checked.
    if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) return true;
    const { gate } = this.#parts;
    const identity = await gate.identify(request);
    if (identity === undefined) {
      const isForm = sendsForm(request);
      if (!wantsPage(request) && !isForm) throw signInFirst(request);
      this.#parts.metrics.request(id, 'sign_in');
      redirect(response, isForm ? 303 : 302, `${ownPrefix}sign-in?to=${encodeURIComponent(request.url ?? '/')}`);
      return false;
    }
    gate.admit(identity, id, request.method);
    setGatewayIdentity(request, identity);
    return true;
  }

  /** Returns the root address of a page that was requested below a path and only works at a root. */
  #rootFor(request: IncomingMessage, { id, url }: Extract<Route, { to: 'service' }>): string | undefined {
    if (request.url === url || !wantsPage(request)) return undefined;
    if (this.#parts.targets().find((target) => target.id === id)?.needsRoot !== true) return undefined;
    const base = this.#parts.addressFor(id, request);
    return base === undefined ? undefined : base + url;
  }

  #passed(request: IncomingMessage, { id, url }: Extract<Route, { to: 'service' }>): Passed {
    const isPublic = isPublicPath(this.#parts.publicPaths(), id, url);
    return { service: id, identity: getGatewayIdentity(request), from: addressOf(request), isPublic };
  }

  /** Handles upgrades of gateway routes, because proxies copy the upgrade headers into forward auth requests. */
  async #answerUpgrade(request: IncomingMessage, socket: Duplex, portOf: string | undefined): Promise<void> {
    const route = this.#route(request, portOf);
    if (route.to !== 'own' || !/^verify(?:\?|$)/.test(route.path)) throw nothing();
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.once('finish', () => socket.end());
    try {
      await this.#answer(request, response, portOf);
    } catch (error) {
      this.refuse(request, response, error);
    }
  }

  /** Checks the entire service without `url`. */
  #needsSignIn({ id, url }: { readonly id: string; readonly url?: string }): boolean {
    if (this.#parts.exposure(id) !== 'sign-in') return false;
    if (url !== undefined && isPublicPath(this.#parts.publicPaths(), id, url)) return false;
    return this.#parts.targets().find((target) => target.id === id)?.authenticates !== true;
  }

  /** @throws Problem `gateway.service_down` (502) */
  #target(id: string): DispatchHandlers {
    const { context, targets, upstreams } = this.#parts;
    const target = context.dispatch(id) ?? upstreams.dispatched(id);
    if (target !== undefined) return target;
    if (!targets().some((each) => each.id === id)) throw nothing();
    throw new Problem('gateway.service_down', 502, 'This service is not running at the moment.', {
      headers: { 'Retry-After': '5' },
    });
  }

  async #own(
    request: IncomingMessage,
    response: ServerResponse,
    rest: string,
    titleAt: (url: string) => string | undefined,
  ): Promise<void> {
    const [path = ''] = rest.split('?', 1);
    const query = rest.slice(path.length + 1);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path === 'style.css' && isRead)
      return send(request, response, { status: 200, type: 'text/css; charset=utf-8', body: style });
    if (path === 'passkey.js' && isRead)
      return send(request, response, { status: 200, type: 'text/javascript; charset=utf-8', body: passkeyScript });
    if (path === 'sign-in') return this.#signIn.signIn(request, response, query, titleAt);
    if (path === 'sign-out') return this.#signIn.signOut(request, response);
    if (path === 'verify') return verify(request, response, new URLSearchParams(query), this.#parts);
    if (path === 'oidc' && request.method === 'GET')
      return this.#oidc.begin(request, response, new URLSearchParams(query));
    if (path === 'oidc/callback' && request.method === 'GET') return this.#oidc.callback(request, response, query);
    if (path === 'session' && isRead) return this.#signIn.session(request, response);
    throw nothing();
  }

  /** Sends an error, as a page for browsers. */
  readonly refuse = (request: IncomingMessage, response: ServerResponse, error: unknown): void => {
    const problem = this.#problemOf(error);
    this.#parts.metrics.request('', outcomeOf(problem.status));
    if (response.headersSent || response.destroyed) return void response.destroy();
    if (!request.complete) response.setHeader('Connection', 'close');
    if (wantsPage(request)) {
      const hint = problem.status === 404 ? '\n<p>Services are shared on the page Network of Homeport.</p>' : '';
      const body = page('Not here', `<h1>${title(problem.status)}</h1>\n<p>${escapeHtml(problem.detail)}</p>${hint}`);
      return sendHtml(request, response, problem.status, body, problem.headers);
    }
    const { code, detail, status, headers } = problem;
    const body = `${JSON.stringify({ error: { code, detail } })}\n`;
    send(request, response, { status, type: 'application/json; charset=utf-8', body, headers });
  };

  #refuseUpgrade(socket: Duplex, error: unknown): void {
    const { status, detail } = this.#problemOf(error);
    this.#parts.metrics.request('', outcomeOf(status));
    const body = `${detail}\n`;
    const head = `HTTP/1.1 ${String(status)} Refused\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8`;
    if (!socket.destroyed) socket.end(`${head}\r\nContent-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`);
  }

  #problemOf(error: unknown): Problem {
    if (error instanceof Problem) return error;
    const id = this.#parts.context.random.text(12);
    this.#parts.context.log.error('request failed', { id, error });
    return new Problem('internal', 500, `Something went wrong here. The log has the details under ${id}.`);
  }
}

function addressOf({ socket }: IncomingMessage): string {
  return (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
}

/** Services that are not shared respond like missing ones. */
function nothing(): Problem {
  return new Problem('gateway.no_route', 404, 'There is nothing here, or it is not shared.');
}

function signInFirst(request?: IncomingMessage): Problem {
  // A challenge in answers to scripts would open the browser's password dialog.
  const isPage = request?.headers['sec-fetch-mode'] !== undefined;
  const headers: Record<string, string> = isPage
    ? {}
    : { 'WWW-Authenticate': 'Basic realm="Homeport", charset="UTF-8"' };
  return new Problem('gateway.sign_in', 401, 'Sign in first.', { headers });
}

function title(status: number): string {
  if (status === 404) return 'Nothing here';
  return status >= 500 ? 'Not at the moment' : 'Not allowed';
}
