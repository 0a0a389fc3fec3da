import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';

const hidden = new WeakSet<IncomingMessage>();
/** How long the result for a header is remembered: a page of an upstream sends the same one with each request. */
const rememberedMs = 60_000;
const maxRemembered = 1000;
const tokenShape = /^tk_[a-z0-9]{29}$/;

/** Marks the Authorization header of a request as one of Homeport, which no upstream gets to see. */
export function hideAuthorization(request: IncomingMessage): void {
  hidden.add(request);
}

/** Whether the Authorization header of a request belongs to Homeport. */
export function hidesAuthorization(request: IncomingMessage): boolean {
  return hidden.has(request);
}

type CredentialContext = Pick<Context, 'accounts' | 'caller' | 'clock'>;

/** Tells credentials of Homeport from those that a signed-in browser sends to an upstream. */
export class OwnCredentials {
  readonly #context: CredentialContext;
  readonly #results = new Map<string, { readonly isOurs: boolean; readonly at: number }>();

  constructor(context: CredentialContext) {
    this.#context = context;
  }

  /**
   * Whether the Authorization header of a request with a valid session is a credential of Homeport. What cannot be
   * one by its form is not checked, so that an upstream's own credentials never count as failed sign-ins.
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
      // While too many attempts wait nobody knows whose it is, so it stays here.
      return error.status !== 401;
    }
  }
}
