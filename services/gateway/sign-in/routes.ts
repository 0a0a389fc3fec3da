import * as m from '#messages/gateway-problems';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Identity } from '../../contracts/control/accounts.ts';
import { PasskeyResponse, SecondFactorNeeded, type SecondFactorProof } from '../../contracts/control/second-factor.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { readRequestBody } from '../../kit/http/body.ts';
import { getReturnPath, parseReturnPath } from '../domain/return-path.ts';
import type { GatewayMetrics } from '../metrics.ts';
import { redirect, scriptHeaders, sendHtml, sendsForm } from '../pages/responses.ts';
import type { SessionCookie } from './cookie.ts';
import type { Gate } from './gate.ts';
import { renderCodePage, renderContinuePage, renderSignedInPage, renderSignInPage } from './pages.ts';
import type { SignedInAccounts } from './signed-in-account.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { RateLimiter } from '../../kit/rate-limiter.ts';

const maxFormBytes = 16 * 1024;

/** Submitted form. */
interface SubmittedForm {
  readonly form: URLSearchParams;
  /** Path after the sign-in. */
  readonly returnPath: string;
  /** Title of the service at that path. */
  readonly serviceTitle: string | undefined;
}

/** Entered password. */
interface PasswordSignIn extends Pick<SubmittedForm, 'returnPath' | 'serviceTitle'> {
  readonly name: string;
  readonly password: string;
}

/** Sign-in at an external provider, which the sign-in page offers. */
interface SignInProvider {
  /** Label of the button; undefined without a provider. */
  readonly name: string | undefined;
}

interface SignInDependencies {
  readonly context: Pick<Context, 'accounts' | 'caller' | 'clock' | 'log' | 'publicUrl' | 'random'>;
  readonly gate: Gate;
  readonly cookie: SessionCookie;
  readonly signedIn: SignedInAccounts;
  readonly provider: SignInProvider;
  readonly metrics: GatewayMetrics;
}

/** Serves the sign-in and sign-out pages on each host and port. */
export class SignInRoutes {
  readonly #deps: SignInDependencies;
  readonly #rateLimiter: RateLimiter;

  constructor(deps: SignInDependencies) {
    this.#deps = deps;
    this.#rateLimiter = new RateLimiter(deps.context.clock, { capacity: 60, drainMs: 50 });
  }

  /**
   * Handles a request for a page.
   * @param findTitle Returns the title of the service at a path
   * @throws Problem 403, 405, 413, 429
   */
  async signIn(
    request: IncomingMessage,
    response: ServerResponse,
    query: string,
    findTitle: (url: string) => string | undefined,
  ): Promise<void> {
    if (request.method === 'GET' || request.method === 'HEAD') {
      const returnPath = parseReturnPath(query);
      sendHtml(response, 200, this.#renderPage({ returnPath, serviceTitle: findTitle(returnPath) }));
      return;
    }
    const form = await this.readForm(request);
    const returnPath = getReturnPath(form.get('to'));
    const serviceTitle = findTitle(returnPath);
    if (form.has('ticket')) return this.#handleSecondFactor(request, response, { form, returnPath, serviceTitle });
    const [name, password] = [form.get('name') ?? '', form.get('password') ?? ''];
    await this.signInWithPassword(request, response, { name, password, returnPath, serviceTitle });
  }

  /** Signs in and redirects to the requested page; or sends the page for the code, or the form with the error. */
  async signInWithPassword(
    request: IncomingMessage,
    response: ServerResponse,
    { name, password, returnPath, serviceTitle }: PasswordSignIn,
  ): Promise<void> {
    const { context, metrics } = this.#deps;
    const { remoteAddress } = context.caller(request);
    const userAgent = request.headers['user-agent'] ?? '';
    try {
      const { identity, secret } = await context.accounts.signIn(name, password, { remoteAddress, userAgent });
      await this.#completeSignIn(request, response, { identity, secret, returnPath });
    } catch (error) {
      if (error instanceof SecondFactorNeeded) {
        metrics.signIn('code_wanted');
        await this.#sendCodePage(request, response, 200, { returnPath, ticket: error.ticket });
        return;
      }
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      metrics.signIn('wrong');
      const body = this.#renderPage({ returnPath, serviceTitle }, { name: name.slice(0, 64), error: error.detail });
      sendHtml(response, error.status, body, error.headers);
    }
  }

  async #handleSecondFactor(
    request: IncomingMessage,
    response: ServerResponse,
    { form, returnPath, serviceTitle }: SubmittedForm,
  ): Promise<void> {
    const ticket = form.get('ticket') ?? '';
    const { context, metrics } = this.#deps;
    try {
      const { remoteAddress } = context.caller(request);
      const client = { remoteAddress, userAgent: request.headers['user-agent'] ?? '' };
      const proof = toProof(form, context.publicUrl(request) ?? '');
      const { identity, secret } = await context.accounts.factors.complete(ticket, proof, client);
      await this.#completeSignIn(request, response, { identity, secret, returnPath });
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      const { status, detail, headers } = error;
      if (error.code === 'accounts.second_step_expired') {
        sendHtml(response, status, this.#renderPage({ returnPath, serviceTitle }, { error: detail }));
        return;
      }
      metrics.signIn('wrong');
      await this.#sendCodePage(request, response, status, { returnPath, ticket, error: detail }, headers);
    }
  }

  /** Sends the second-factor page, with a passkey when the account has one for this host. */
  async #sendCodePage(
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    {
      returnPath,
      ticket,
      error = '',
    }: { readonly returnPath: string; readonly ticket: string; readonly error?: string },
    headers: Problem['headers'] = {},
  ): Promise<void> {
    const { accounts, publicUrl } = this.#deps.context;
    const passkey = await accounts.factors.passkeyOptions(ticket, publicUrl(request) ?? '');
    sendHtml(response, status, renderCodePage({ to: returnPath, ticket, error, passkey }), {
      ...headers,
      ...scriptHeaders,
    });
  }

  #renderPage(
    { returnPath, serviceTitle }: Pick<SubmittedForm, 'returnPath' | 'serviceTitle'>,
    options: { readonly name?: string; readonly error?: string } = {},
  ): string {
    return renderSignInPage(returnPath, { ...options, serviceTitle, provider: this.#deps.provider.name });
  }

  async #completeSignIn(
    request: IncomingMessage,
    response: ServerResponse,
    {
      identity,
      secret,
      returnPath,
    }: { readonly identity: Identity; readonly secret: string; readonly returnPath: string },
  ): Promise<void> {
    await this.#deps.gate.endSession(request);
    await this.#deps.signedIn.add(identity, request);
    this.#deps.metrics.signIn('right');
    // Browsers apply `form-action 'self'` to every redirect after a form, and the requested page may redirect elsewhere.
    const target = sendsForm(request) ? `/.homeport/continue?to=${encodeURIComponent(returnPath)}` : returnPath;
    redirect(response, 303, target, { 'Set-Cookie': this.#deps.cookie.set(request, secret) });
  }

  /** Serves the page between the sign-in form and the requested page. */
  continue(request: IncomingMessage, response: ServerResponse, query: string): void {
    sendHtml(response, 200, renderContinuePage(parseReturnPath(query)));
  }

  async signOut(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.readForm(request);
    await this.#deps.gate.endSession(request);
    redirect(response, 303, '/.homeport/sign-in', {
      'Set-Cookie': this.#deps.cookie.clear(request),
      'Clear-Site-Data': '"cache"',
    });
  }

  async session(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const identity = await this.#deps.gate.identify(request);
    if (identity === undefined) redirect(response, 302, '/.homeport/sign-in?to=/.homeport/session');
    else sendHtml(response, 200, renderSignedInPage(identity.account));
  }

  /**
   * Reads the fields of a form of the gateway.
   * @throws Problem 403, 405, 413, 429
   */
  async readForm(request: IncomingMessage): Promise<URLSearchParams> {
    const { headers, method } = request;
    if (method !== 'POST')
      throw new Problem('gateway.method', 405, m.useGetOrPost(), { headers: { Allow: 'GET, HEAD, POST' } });
    const origin = headers.origin?.toLowerCase();
    const site = headers['sec-fetch-site'];
    if (origin !== this.#deps.context.publicUrl(request)?.toLowerCase() && site !== 'same-origin') {
      throw new Problem('gateway.foreign_form', 403, m.foreignForm());
    }
    if (!this.#rateLimiter.take(this.#deps.context.caller(request).remoteAddress)) {
      throw new Problem('gateway.too_many', 429, m.tooManyAttempts(), { headers: { 'Retry-After': '3' } });
    }
    const createTooLarge = (): Problem => new Problem('gateway.too_large', 413, m.formTooLarge());
    return new URLSearchParams((await readRequestBody(request, maxFormBytes, createTooLarge)).toString());
  }
}

/** @throws Problem `gateway.bad_passkey` (422) */
function toProof(form: URLSearchParams, origin: string): SecondFactorProof {
  const text = form.get('passkey');
  if (text === null) return { code: form.get('code') ?? '' };
  try {
    return { passkey: PasskeyResponse.parse(parseJson(text)), origin };
  } catch (cause) {
    throw new Problem('gateway.bad_passkey', 422, m.passkeyRejected(), { cause });
  }
}
