import type { IncomingMessage } from 'node:http';
import type { DispatchContext } from '../../contracts/dispatch.ts';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { hideAuthorization, OwnCredentials } from './own-credentials.ts';
import type { SessionCookie } from './cookie.ts';
import type { SignedIn } from './signed-in.ts';

type GateContext = Pick<DispatchContext, 'accounts' | 'caller' | 'clock' | 'isFromTrustedProxy' | 'publicUrl'>;

interface GateParts {
  readonly context: GateContext;
  readonly cookie: SessionCookie;
  readonly signedIn: SignedIn;
  /** Whether whom a trusted proxy names is signed in. */
  readonly believesProxies: () => boolean;
}

/** Finds out who is at the door. */
export class Gate {
  readonly #context: GateContext;
  readonly #cookie: SessionCookie;
  readonly #signedIn: SignedIn;
  readonly #believesProxies: () => boolean;
  readonly #credentials: OwnCredentials;

  constructor({ context, cookie, signedIn, believesProxies }: GateParts) {
    this.#believesProxies = believesProxies;
    this.#credentials = new OwnCredentials(context);
    this.#context = context;
    this.#cookie = cookie;
    this.#signedIn = signedIn;
  }

  /** @throws what wrong credentials in the Authorization header are answered with: 401, 429. */
  async identify(request: IncomingMessage): Promise<Identity | undefined> {
    const named = (await this.#namedByProxy(request)) ?? (await this.#sessionOf(request));
    if (named !== undefined) {
      if (await this.#credentials.isOurs(request)) hideAuthorization(request);
      this.#signedIn.used(named);
      return named;
    }
    const { authorization } = request.headers;
    if (authorization === undefined) return undefined;
    const identity = await this.#context.accounts.authenticate({ authorization, ...this.#context.caller(request) });
    if (identity === undefined) return undefined;
    hideAuthorization(request);
    this.#signedIn.used(identity);
    return identity;
  }

  async #sessionOf(request: IncomingMessage): Promise<Identity | undefined> {
    const session = this.#comesFromElsewhere(request) ? undefined : this.#cookie.read(request);
    if (session === undefined) return undefined;
    return this.#context.accounts.authenticate({ session, ...this.#context.caller(request) });
  }

  /** Ends the session of the cookie that a request brings, if it has one: a new sign-in replaces it. */
  async endSession(request: IncomingMessage): Promise<void> {
    const former = await this.#sessionOf(request);
    if (former !== undefined) await this.#context.accounts.signOut(former);
  }

  /** Whether an account may use a service. @throws Problem `gateway.forbidden` (403) */
  admit(identity: Identity, service: string, method: string | undefined, isTwoWay = false): void {
    const isRead = !isTwoWay && (method === 'GET' || method === 'HEAD' || method === 'OPTIONS');
    const permission = isRead ? 'read' : 'write';
    if (this.#context.accounts.may(identity, service, permission, '*')) return;
    throw new Problem('gateway.forbidden', 403, 'This account has no grant to use this service.');
  }

  /** Whether somebody who was let in would be now. */
  stillAdmits(identity: Identity, service: string): boolean {
    const { accounts } = this.#context;
    if (!accounts.isStillValid(identity)) return false;
    return (['read', 'write'] as const).some((permission) => accounts.may(identity, service, permission, '*'));
  }

  /** A proxy that the owner trusts has signed somebody in, and says whom. */
  async #namedByProxy(request: IncomingMessage): Promise<Identity | undefined> {
    const name = request.headers['remote-user'];
    const { accounts, isFromTrustedProxy } = this.#context;
    if (typeof name !== 'string' || !this.#believesProxies() || !isFromTrustedProxy(request)) return undefined;
    const account = await accounts.find(name);
    if (account?.enabled !== true || account.kind !== 'person') {
      throw new Problem('gateway.unknown_person', 403, 'The proxy names somebody who has no account here.');
    }
    // Stands as long as the account does: the proxy says it anew with each request.
    return { account: account.name, kind: account.kind, role: account.role, via: 'password' };
  }

  /**
   * Whether a page of another origin makes the browser send this. All names below `NAME.local` and all ports are one site to a
   * browser, which then sends the cookie along, so it is not taken from there; but who follows a link stays signed in.
   */
  #comesFromElsewhere(request: IncomingMessage): boolean {
    const { headers, method } = request;
    const { origin } = headers;
    const site = headers['sec-fetch-site'];
    // A page with `Referrer-Policy: no-referrer` sends `Origin: null` with its own forms.
    if (origin === 'null') return site !== 'same-origin';
    if (origin !== undefined && origin.toLowerCase() !== this.#context.publicUrl(request)?.toLowerCase()) return true;
    if (site === undefined || site === 'same-origin' || site === 'none') return false;
    const follows = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
    return !(follows && (method === 'GET' || method === 'HEAD'));
  }
}
