import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Identity } from '../../contracts/control/accounts.ts';
import { PasskeyResponse, SecondFactorNeeded, type SecondFactorProof } from '../../contracts/control/second-factor.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { readRequestBody } from '../../kit/request-body.ts';
import { getReturnPath, wantedPath } from '../domain/return-path.ts';
import type { GatewayMetrics } from '../proxy/metrics.ts';
import { redirect, scriptHeaders, sendHtml, signInFormHeaders } from '../proxy/responses.ts';
import type { Provider } from '../oidc/provider.ts';
import type { SessionCookie } from './cookie.ts';
import type { Gate } from './gate.ts';
import { codePage, signedInPage, signInPage } from './pages.ts';
import type { SignedIn } from './signed-in-account.ts';
import { RateLimit } from './rate-limiter.ts';

const longestForm = 16 * 1024;

/** Submitted form. */
interface Given {
  readonly form: URLSearchParams;
  /** Path after the sign-in. */
  readonly to: string;
  /** Title of the service at that path. */
  readonly where: string | undefined;
}

interface SignInParts {
  readonly context: Pick<Context, 'accounts' | 'caller' | 'clock' | 'log' | 'publicUrl' | 'random'>;
  readonly gate: Gate;
  readonly cookie: SessionCookie;
  readonly signedIn: SignedIn;
  readonly provider: Provider;
  readonly metrics: GatewayMetrics;
}

/** Serves the sign-in and sign-out pages on each host and port. */
export class SignInRoutes {
  readonly #parts: SignInParts;
  readonly #rate: RateLimit;

  constructor(parts: SignInParts) {
    this.#parts = parts;
    this.#rate = new RateLimit(parts.context.clock, { burst: 60, perSecond: 20 });
  }

  /**
   * Handles a request for a page.
   * @param titleAt Returns the title of the service at a path
   * @throws Problem 403, 405, 413, 429
   */
  async signIn(
    request: IncomingMessage,
    response: ServerResponse,
    query: string,
    titleAt: (url: string) => string | undefined,
  ): Promise<void> {
    if (request.method === 'GET' || request.method === 'HEAD') {
      const to = wantedPath(query);
      sendForm(request, response, 200, this.#page({ to, where: titleAt(to) }));
      return;
    }
    const form = await this.#form(request);
    const to = getReturnPath(form.get('to'));
    const given = { form, to, where: titleAt(to) };
    if (form.has('ticket')) await this.#secondStep(request, response, given);
    else await this.#password(request, response, given);
  }

  async #password(request: IncomingMessage, response: ServerResponse, { form, to, where }: Given): Promise<void> {
    const [name, password] = [form.get('name') ?? '', form.get('password') ?? ''];
    const { context, metrics } = this.#parts;
    const { remoteAddress } = context.caller(request);
    const userAgent = request.headers['user-agent'] ?? '';
    try {
      const { identity, secret } = await context.accounts.signIn(name, password, { remoteAddress, userAgent });
      await this.#letIn(request, response, { identity, secret, to });
    } catch (error) {
      if (error instanceof SecondFactorNeeded) {
        metrics.signIn('code_wanted');
        await this.#sendCodePage(request, response, 200, { to, ticket: error.ticket });
        return;
      }
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      metrics.signIn('wrong');
      const body = this.#page({ to, where }, { name: name.slice(0, 64), trouble: error.detail });
      sendForm(request, response, error.status, body, error.headers);
    }
  }

  async #secondStep(request: IncomingMessage, response: ServerResponse, { form, to, where }: Given): Promise<void> {
    const ticket = form.get('ticket') ?? '';
    const { context, metrics } = this.#parts;
    try {
      const { remoteAddress } = context.caller(request);
      const client = { remoteAddress, userAgent: request.headers['user-agent'] ?? '' };
      const proof = toProof(form, context.publicUrl(request) ?? '');
      const { identity, secret } = await context.accounts.factors.complete(ticket, proof, client);
      await this.#letIn(request, response, { identity, secret, to });
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      const { status, detail, headers } = error;
      if (error.code === 'accounts.second_step_expired') {
        sendForm(request, response, status, this.#page({ to, where }, { trouble: detail }));
        return;
      }
      metrics.signIn('wrong');
      await this.#sendCodePage(request, response, status, { to, ticket, trouble: detail }, headers);
    }
  }

  /** Sends the second-factor page, with a passkey when the account has one for this host. */
  async #sendCodePage(
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    { to, ticket, trouble = '' }: { readonly to: string; readonly ticket: string; readonly trouble?: string },
    headers: Problem['headers'] = {},
  ): Promise<void> {
    const { accounts, publicUrl } = this.#parts.context;
    const passkey = await accounts.factors.passkeyOptions(ticket, publicUrl(request) ?? '');
    sendForm(request, response, status, codePage({ to, ticket, trouble, passkey }), { ...headers, ...scriptHeaders });
  }

  #page(
    { to, where }: Pick<Given, 'to' | 'where'>,
    said: { readonly name?: string; readonly trouble?: string } = {},
  ): string {
    return signInPage(to, { ...said, where, provider: this.#parts.provider.name });
  }

  async #letIn(
    request: IncomingMessage,
    response: ServerResponse,
    { identity, secret, to }: { readonly identity: Identity; readonly secret: string; readonly to: string },
  ): Promise<void> {
    await this.#parts.gate.endSession(request);
    await this.#parts.signedIn.add(identity, request);
    this.#parts.metrics.signIn('right');
    redirect(response, 303, to, { 'Set-Cookie': this.#parts.cookie.set(request, secret) });
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

  /**
   * Reads the fields of a form of the gateway.
   * @throws Problem 403, 405, 413, 429
   */
  async #form(request: IncomingMessage): Promise<URLSearchParams> {
    const { headers, method } = request;
    if (method !== 'POST')
      throw new Problem('gateway.method', 405, 'Use GET or POST.', { headers: { Allow: 'GET, HEAD, POST' } });
    const origin = headers.origin?.toLowerCase();
    const site = headers['sec-fetch-site'];
    if (origin !== this.#parts.context.publicUrl(request)?.toLowerCase() && site !== 'same-origin') {
      throw new Problem('gateway.foreign_form', 403, 'A page of another origin may not sign in or out here.');
    }
    if (!this.#rate.take(this.#parts.context.caller(request).remoteAddress)) {
      const detail = 'Too many attempts from this address. Wait a moment.';
      throw new Problem('gateway.too_many', 429, detail, { headers: { 'Retry-After': '3' } });
    }
    const tooLarge = (): Problem => new Problem('gateway.too_large', 413, 'The form is too large.');
    return new URLSearchParams((await readRequestBody(request, longestForm, tooLarge)).toString());
  }
}

function sendForm(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: string,
  headers: Problem['headers'] = {},
): void {
  sendHtml(request, response, status, body, { ...signInFormHeaders, ...headers });
}

/** @throws Problem `gateway.bad_passkey` (422) */
function toProof(form: URLSearchParams, origin: string): SecondFactorProof {
  const text = form.get('passkey');
  if (text === null) return { code: form.get('code') ?? '' };
  try {
    return { passkey: PasskeyResponse.parse(JSON.parse(text)), origin };
  } catch (cause) {
    throw new Problem('gateway.bad_passkey', 422, 'The passkey was not accepted.', { cause });
  }
}
