import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { toNetwork } from '../../../kit/network.ts';
import { invalid } from './auth-error.ts';
import { Body, readBody } from './body.ts';

/** What came, as the routes look at it. */
export class Call {
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
  /** Where it came from, a trusted proxy looked through. */
  readonly address: string;
  /** What clients reach this part by: `http://127.0.0.1:54321/auth/v1`. */
  readonly base: string;
  /** The parts of the path that a route leaves open. */
  readonly path: readonly string[];
  /** ms since the epoch. */
  readonly now: number;
  #body: Promise<Body> | undefined;

  constructor(parts: Pick<Call, 'request' | 'query' | 'address' | 'base' | 'path' | 'now'>) {
    this.request = parts.request;
    this.query = parts.query;
    this.address = parts.address;
    this.base = parts.base;
    this.path = parts.path;
    this.now = parts.now;
  }

  /** Read once. @throws Refusal for what is no JSON object. */
  body(): Promise<Body> {
    return (this.#body ??= readBody(this.request).then((text) => new Body(text)));
  }

  /** The same where there may be none. */
  async optionalBody(): Promise<Body> {
    const text = await readBody(this.request);
    return new Body(text === '' ? '{}' : text);
  }

  /** The token of the header; undefined without one. */
  get bearer(): string | undefined {
    return /^(?:B|b)earer (\S+)\s*$/.exec(this.request.headers.authorization ?? '')?.[1];
  }

  get userAgent(): string | null {
    return this.request.headers['user-agent']?.slice(0, 1000) ?? null;
  }

  /** The network that the call came from for sure. */
  get network(): string {
    return toNetwork(this.address);
  }

  /**
   * Where it came from as exactly as it is known: a proxy that the settings do not trust may still say whom it speaks
   * for. A caller may say so too, so a limit by place needs one by network beside it.
   */
  get place(): string {
    const forwarded = this.request.headers['x-forwarded-for'];
    const last = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',').at(-1)?.trim() ?? '';
    return isIP(last) === 0 ? this.network : `${this.network} ${toNetwork(last)}`;
  }

  /** Where the caller wants to be led. */
  get redirectTo(): string {
    const header = this.request.headers['redirect_to'];
    return typeof header === 'string' && header !== '' ? header : (this.query.get('redirect_to') ?? '');
  }

  /** Of the path. @throws Refusal 404 for what is no UUID. */
  id(index: number, name: string): string {
    const text = this.path[index] ?? '';
    if (isUuid(text)) return text.toLowerCase();
    throw invalid(`${name} must be an UUID`).as(404);
  }
}

export function isUuid(text: string): boolean {
  return /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text);
}

/** What a route answers; a body that is a text is sent as it is. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export const ok = (body: unknown, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status: 200,
  headers,
  body,
});
