import type { IncomingMessage } from 'node:http';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { SecondFactors } from '../second-factor/second-factors.ts';
import type { SessionCookie } from './cookie.ts';
import type { SignedIn } from './signed-in.ts';

interface GateParts {
  readonly context: Pick<Context, 'accounts' | 'caller'>;
  readonly cookie: SessionCookie;
  readonly signedIn: SignedIn;
  readonly factors: SecondFactors;
}

/** Finds out who is at the door. */
export class Gate {
  readonly #context: Pick<Context, 'accounts' | 'caller'>;
  readonly #cookie: SessionCookie;
  readonly #signedIn: SignedIn;
  readonly #factors: SecondFactors;

  constructor({ context, cookie, signedIn, factors }: GateParts) {
    this.#context = context;
    this.#cookie = cookie;
    this.#signedIn = signedIn;
    this.#factors = factors;
  }

  /** @throws what wrong credentials in the Authorization header are answered with: 401, 429. */
  async identify(request: IncomingMessage): Promise<Identity | undefined> {
    const { accounts, caller } = this.#context;
    const { authorization } = request.headers;
    const session = comesFromElsewhere(request) ? undefined : this.#cookie.read(request);
    if (authorization === undefined && session === undefined) return undefined;
    const identity = await accounts.authenticate({ authorization, session, ...caller(request) });
    if (identity === undefined) return undefined;
    if (identity.via === 'password' && (await this.#factors.isOn(identity.account))) {
      const detail = 'The password alone does not do for this account. Use one of its access tokens in its place.';
      throw new Problem('gateway.second_factor', 401, detail);
    }
    this.#signedIn.used(identity);
    return identity;
  }

  /** Whether an account may use a service. @throws Problem `gateway.forbidden` (403) */
  admit(identity: Identity, service: string, method: string | undefined): void {
    const permission = method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? 'read' : 'write';
    if (this.#context.accounts.may(identity, service, permission, '*')) return;
    throw new Problem('gateway.forbidden', 403, 'This account has no grant to use this service.');
  }

  /** Whether somebody who was let in would be now. */
  stillAdmits(identity: Identity, service: string): boolean {
    const { accounts } = this.#context;
    if (!accounts.stands(identity)) return false;
    return (['read', 'write'] as const).some((permission) => accounts.may(identity, service, permission, '*'));
  }
}

/**
 * Whether a page of another origin makes the browser send this. All names below `NAME.local` and all ports are one site to a
 * browser, which then sends the cookie along, so it is not taken from there; but who follows a link stays signed in.
 */
function comesFromElsewhere({ headers, method }: IncomingMessage): boolean {
  const { origin, host = '' } = headers;
  if (origin !== undefined && origin.toLowerCase() !== `https://${host.toLowerCase()}`) return true;
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  const follows = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return !(follows && (method === 'GET' || method === 'HEAD'));
}
