import * as m from '#messages/gateway-problems';
import type { IncomingMessage } from 'node:http';
import type { DispatchContext } from '../../contracts/dispatch.ts';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { hideAuthorization, GatewayCredentials } from './gateway-credentials.ts';
import type { SessionCookie } from './cookie.ts';
import type { SignedInAccounts } from './signed-in-account.ts';

type GateContext = Pick<DispatchContext, 'accounts' | 'caller' | 'clock' | 'isFromTrustedProxy' | 'publicUrl'>;

interface GateDependencies {
  readonly context: GateContext;
  readonly cookie: SessionCookie;
  readonly signedIn: SignedInAccounts;
  /** Returns true when the account that a trusted proxy reports is accepted. */
  readonly trustsProxySignIn: () => boolean;
}

/** Authenticates the sender of a request. */
export class Gate {
  readonly #context: GateContext;
  readonly #cookie: SessionCookie;
  readonly #signedIn: SignedInAccounts;
  readonly #trustsProxySignIn: () => boolean;
  readonly #credentials: GatewayCredentials;

  constructor({ context, cookie, signedIn, trustsProxySignIn }: GateDependencies) {
    this.#trustsProxySignIn = trustsProxySignIn;
    this.#credentials = new GatewayCredentials(context);
    this.#context = context;
    this.#cookie = cookie;
    this.#signedIn = signedIn;
  }

  /** @throws Problem 401 or 429 for invalid credentials in the Authorization header */
  async identify(request: IncomingMessage): Promise<Identity | undefined> {
    const session = (await this.#findProxyIdentity(request)) ?? (await this.#findSession(request));
    if (session !== undefined) {
      if (await this.#credentials.isGatewayCredential(request)) hideAuthorization(request);
      this.#signedIn.recordUse(session);
      return session;
    }
    const { authorization } = request.headers;
    if (authorization === undefined) return undefined;
    const identity = await this.#context.accounts.authenticate({ authorization, ...this.#context.caller(request) });
    if (identity === undefined) return undefined;
    hideAuthorization(request);
    this.#signedIn.recordUse(identity);
    return identity;
  }

  async #findSession(request: IncomingMessage, forEnrollment = false): Promise<Identity | undefined> {
    const session = this.#isCrossOrigin(request) ? undefined : this.#cookie.read(request);
    if (session === undefined) return undefined;
    return this.#context.accounts.authenticate({ session, forEnrollment, ...this.#context.caller(request) });
  }

  /** Ends the session of the request's cookie, at a sign-out or because a new sign-in replaces it. */
  async endSession(request: IncomingMessage): Promise<void> {
    const former = await this.#findSession(request, true);
    if (former !== undefined) await this.#context.accounts.signOut(former);
  }

  /**
   * Requires a grant for a service.
   * @throws Problem `gateway.forbidden` (403)
   */
  admit(identity: Identity, service: string, method: string | undefined, isBidirectional = false): void {
    const isRead = !isBidirectional && (method === 'GET' || method === 'HEAD' || method === 'OPTIONS');
    const permission = isRead ? 'read' : 'write';
    if (this.#context.accounts.may(identity, service, permission, '*')) return;
    throw new Problem('gateway.forbidden', 403, m.forbidden());
  }

  /** Returns true while an admitted client would still be admitted. */
  isStillAdmitted(identity: Identity, service: string): boolean {
    const { accounts } = this.#context;
    if (!accounts.isStillValid(identity)) return false;
    return (['read', 'write'] as const).some((permission) => accounts.may(identity, service, permission, '*'));
  }

  /** Returns the account that a trusted proxy authenticated. */
  async #findProxyIdentity(request: IncomingMessage): Promise<Identity | undefined> {
    const name = request.headers['remote-user'];
    const { accounts, isFromTrustedProxy } = this.#context;
    if (typeof name !== 'string' || !this.#trustsProxySignIn() || !isFromTrustedProxy(request)) return undefined;
    const account = await accounts.find(name);
    if (account?.enabled !== true || account.kind !== 'person') {
      throw new Problem('gateway.unknown_person', 403, m.proxyAccountUnknown());
    }
    // The identity is valid while the account exists, since the proxy reports it with each request.
    return { account: account.name, kind: account.kind, role: account.role, via: 'password' };
  }

  /**
   * Returns true for cross-origin requests, whose cookie is not accepted: browsers treat all names below `NAME.local`
   * and all ports as one site and send it. Navigation by links is permitted.
   */
  #isCrossOrigin(request: IncomingMessage): boolean {
    const { headers, method } = request;
    const { origin } = headers;
    const site = headers['sec-fetch-site'];
    // Pages with `Referrer-Policy: no-referrer` send `Origin: null`, and some proxies report a host without its port.
    if (site === 'same-origin') return false;
    if (origin !== undefined && origin.toLowerCase() !== this.#context.publicUrl(request)?.toLowerCase()) return true;
    if (site === undefined || site === 'none') return false;
    const isNavigation = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
    return !(isNavigation && (method === 'GET' || method === 'HEAD'));
  }
}
