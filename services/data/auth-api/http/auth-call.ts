import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { toNetwork } from '../../../kit/network.ts';
import { createValidationError } from './auth-error.ts';
import { Body, readBody } from './body.ts';

/** Request to the auth API. */
export class AuthCall {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
  /** Client address, behind trusted proxies. */
  readonly address: string;
  /** Base URL for clients: `http://127.0.0.1:54321/auth/v1`. */
  readonly base: string;
  /** Decoded path parameters by the names of the route. */
  readonly params: Readonly<Record<string, string>>;
  /** ms since the epoch. */
  readonly now: number;
  #body: Promise<Body> | undefined;

  constructor(parts: Pick<AuthCall, 'request' | 'query' | 'address' | 'base' | 'params' | 'now'>) {
    this.request = parts.request;
    this.query = parts.query;
    this.address = parts.address;
    this.base = parts.base;
    this.params = parts.params;
    this.now = parts.now;
  }

  /**
   * Returns the body, which is read once.
   *
   * @throws AuthError when it is not a JSON object
   */
  body(): Promise<Body> {
    return (this.#body ??= readBody(this.request).then((text) => new Body(text)));
  }

  /** Returns the body, or an empty one when none was sent. */
  async optionalBody(): Promise<Body> {
    const text = await readBody(this.request);
    return new Body(text === '' ? '{}' : text);
  }

  /** Bearer token; undefined without one. */
  get bearer(): string | undefined {
    return /^(?:B|b)earer (\S+)\s*$/.exec(this.request.headers.authorization ?? '')?.[1];
  }

  get userAgent(): string | null {
    return this.request.headers['user-agent']?.slice(0, 1000) ?? null;
  }

  /** Network of the client address, which cannot be forged. */
  get network(): string {
    return toNetwork(this.address);
  }

  /**
   * Location as exactly as it is known, including the `X-Forwarded-For` entry of an untrusted proxy. Clients can forge
   * it, so limits by location are combined with limits by network.
   */
  get location(): string {
    const forwarded = this.request.headers['x-forwarded-for'];
    const forwardedAddress =
      (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',').at(-1)?.trim() ?? '';
    return isIP(forwardedAddress) === 0 ? this.network : `${this.network} ${toNetwork(forwardedAddress)}`;
  }

  /** Requested redirect target. */
  get redirectTo(): string {
    const header = this.request.headers['redirect_to'];
    return typeof header === 'string' && header !== '' ? header : (this.query.get('redirect_to') ?? '');
  }

  /**
   * Returns the UUID of a user or factor in the path.
   *
   * @throws AuthError 404 for other texts
   */
  id(name: 'user' | 'factor'): string {
    const text = this.params[name] ?? '';
    if (isUuid(text)) return text.toLowerCase();
    throw createValidationError(`${name}_id must be an UUID`).withStatus(404);
  }
}

export function isUuid(text: string): boolean {
  return /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text);
}

/** Response of a route; a text body is sent unchanged. */
export interface AuthResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export const createOkResponse = (body: unknown, headers: Readonly<Record<string, string>> = {}): AuthResponse => ({
  status: 200,
  headers,
  body,
});
