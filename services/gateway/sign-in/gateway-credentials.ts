import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';

const hiddenRequests = new WeakSet<IncomingMessage>();
/** Cache duration of the result for a header, because pages send the same header with each request. */
const cacheLifetimeMs = 60_000;
const maxCached = 1000;
const tokenPattern = /^tk_[a-z0-9]{29}$/;

/** Marks the Authorization header as a Homeport credential, which is not passed on. */
export function hideAuthorization(request: IncomingMessage): void {
  hiddenRequests.add(request);
}

/** Returns true when the Authorization header is a Homeport credential. */
export function hidesAuthorization(request: IncomingMessage): boolean {
  return hiddenRequests.has(request);
}

type CredentialContext = Pick<Context, 'accounts' | 'caller' | 'clock'>;

/** Distinguishes Homeport credentials from credentials for an upstream. */
export class GatewayCredentials {
  readonly #context: CredentialContext;
  readonly #results = new Map<string, { readonly isGatewayCredential: boolean; readonly checkedAt: number }>();

  constructor(context: CredentialContext) {
    this.#context = context;
  }

  /**
   * Returns true when the Authorization header of a request with a valid session is a Homeport credential. Values with
   * a different form are not verified, so that credentials of an upstream do not count as failed sign-ins.
   */
  async isGatewayCredential(request: IncomingMessage): Promise<boolean> {
    const { authorization } = request.headers;
    if (authorization === undefined || !(await this.#mayBeGatewayCredential(authorization))) return false;
    const now = this.#context.clock.now();
    const key = createHash('sha256').update(authorization).digest('base64');
    const cached = this.#results.get(key);
    if (cached !== undefined && now - cached.checkedAt < cacheLifetimeMs) return cached.isGatewayCredential;
    const isOurs = await this.#authenticates(request, authorization);
    if (this.#results.size >= maxCached) this.#results.clear();
    this.#results.set(key, { isGatewayCredential: isOurs, checkedAt: now });
    return isOurs;
  }

  async #mayBeGatewayCredential(authorization: string): Promise<boolean> {
    const [, scheme = '', value = ''] = /^ *(basic|bearer) +(.*)$/i.exec(authorization) ?? [];
    if (scheme.toLowerCase() === 'bearer') return tokenPattern.test(value.trim());
    if (scheme === '') return false;
    const [name = '', ...rest] = Buffer.from(value, 'base64').toString('utf8').split(':');
    if (tokenPattern.test(rest.join(':'))) return true;
    return name !== '' && (await this.#context.accounts.find(name)) !== undefined;
  }

  async #authenticates(request: IncomingMessage, authorization: string): Promise<boolean> {
    try {
      const credentials = { authorization, ...this.#context.caller(request) };
      return (await this.#context.accounts.authenticate(credentials)) !== undefined;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // During throttling the header is unknown and therefore not passed on.
      return error.status !== 401;
    }
  }
}
