import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';

const hidden = new WeakSet<IncomingMessage>();
/** Cache duration of the verdict on a header, because pages send the same one with each request. */
const rememberedMs = 60_000;
const maxRemembered = 1000;
const tokenShape = /^tk_[a-z0-9]{29}$/;

/** Marks the Authorization header as a Homeport credential, which is not passed on. */
export function hideAuthorization(request: IncomingMessage): void {
  hidden.add(request);
}

/** Returns true when the Authorization header is a Homeport credential. */
export function hidesAuthorization(request: IncomingMessage): boolean {
  return hidden.has(request);
}

type CredentialContext = Pick<Context, 'accounts' | 'caller' | 'clock'>;

/** Distinguishes Homeport credentials from credentials for an upstream. */
export class OwnCredentials {
  readonly #context: CredentialContext;
  readonly #results = new Map<string, { readonly isOurs: boolean; readonly at: number }>();

  constructor(context: CredentialContext) {
    this.#context = context;
  }

  /**
   * Returns true when the Authorization header of a request with a valid session is a Homeport credential. Values with
   * a different form are not verified, so that credentials of an upstream do not count as failed sign-ins.
   */
  async isOurs(request: IncomingMessage): Promise<boolean> {
    const { authorization } = request.headers;
    if (authorization === undefined || !(await this.#mayBeOurs(authorization))) return false;
    const now = this.#context.clock.now();
    const key = createHash('sha256').update(authorization).digest('base64');
    const remembered = this.#results.get(key);
    if (remembered !== undefined && now - remembered.at < rememberedMs) return remembered.isOurs;
    const isOurs = await this.#check(request, authorization);
    if (this.#results.size >= maxRemembered) this.#results.clear();
    this.#results.set(key, { isOurs, at: now });
    return isOurs;
  }

  async #mayBeOurs(authorization: string): Promise<boolean> {
    const [, scheme = '', value = ''] = /^ *(basic|bearer) +(.*)$/i.exec(authorization) ?? [];
    if (scheme.toLowerCase() === 'bearer') return tokenShape.test(value.trim());
    if (scheme === '') return false;
    const [name = '', ...rest] = Buffer.from(value, 'base64').toString('utf8').split(':');
    if (tokenShape.test(rest.join(':'))) return true;
    return name !== '' && (await this.#context.accounts.find(name)) !== undefined;
  }

  async #check(request: IncomingMessage, authorization: string): Promise<boolean> {
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
