import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { returnPath } from '../domain/return-path.ts';
import { redirect, sendHtml } from '../front/answer.ts';
import type { SessionCookie } from './cookie.ts';
import type { Gate } from './gate.ts';
import { signedInPage, signInPage } from './pages.ts';
import type { SignedIn } from './signed-in.ts';
import { RateLimit } from './rate.ts';

const longestForm = 16 * 1024;

interface SignInParts {
  readonly context: Pick<Context, 'accounts' | 'caller' | 'clock'>;
  readonly gate: Gate;
  readonly cookie: SessionCookie;
  readonly signedIn: SignedIn;
}

/** The pages on which people sign in and out; each is of the host and port it was opened at. */
export class SignInRoutes {
  readonly #parts: SignInParts;
  readonly #rate: RateLimit;

  constructor(parts: SignInParts) {
    this.#parts = parts;
    this.#rate = new RateLimit(parts.context.clock, { burst: 60, perSecond: 20 });
  }

  /** @throws Problem 403, 405, 413, 429 */
  async signIn(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): Promise<void> {
    if (request.method === 'GET' || request.method === 'HEAD') {
      sendHtml(request, response, 200, signInPage(returnPath(query.get('to'))));
      return;
    }
    const form = await this.#form(request);
    const [name, password, to] = [form.get('name') ?? '', form.get('password') ?? '', returnPath(form.get('to'))];
    const { context, cookie, signedIn } = this.#parts;
    const { remoteAddress } = context.caller(request);
    const userAgent = request.headers['user-agent'] ?? '';
    try {
      const { identity, secret } = await context.accounts.signIn(name, password, { remoteAddress, userAgent });
      await signedIn.add(identity, request);
      redirect(response, 303, to, { 'Set-Cookie': cookie.set(request, secret) });
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      const body = signInPage(to, { name: name.slice(0, 64), trouble: error.detail });
      sendHtml(request, response, error.status, body, error.headers);
    }
  }

  async signOut(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.#form(request);
    const identity = await this.#parts.gate.identify(request);
    if (identity !== undefined) await this.#parts.context.accounts.signOut(identity);
    redirect(response, 303, '/.homeport/sign-in', { 'Set-Cookie': this.#parts.cookie.clear(request) });
  }

  async session(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const identity = await this.#parts.gate.identify(request);
    if (identity === undefined) redirect(response, 302, '/.homeport/sign-in?to=/.homeport/session');
    else sendHtml(request, response, 200, signedInPage(identity.account));
  }

  /** The fields of a form of our own page. @throws Problem 403, 405, 413, 429 */
  async #form(request: IncomingMessage): Promise<URLSearchParams> {
    const { headers, method } = request;
    if (method !== 'POST')
      throw new Problem('gateway.method', 405, 'Use GET or POST.', { headers: { Allow: 'GET, HEAD, POST' } });
    const origin = headers.origin?.toLowerCase();
    const site = headers['sec-fetch-site'];
    if (origin !== `https://${(headers.host ?? '').toLowerCase()}` && site !== 'same-origin') {
      throw new Problem('gateway.foreign_form', 403, 'A page of another origin may not sign in or out here.');
    }
    if (!this.#rate.take(this.#parts.context.caller(request).remoteAddress)) {
      const detail = 'Too many attempts from this address. Wait a moment.';
      throw new Problem('gateway.too_many', 429, detail, { headers: { 'Retry-After': '3' } });
    }
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > longestForm) throw new Problem('gateway.too_large', 413, 'The form is too large.');
      chunks.push(chunk);
    }
    return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
  }
}
