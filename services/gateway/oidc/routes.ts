import * as m from '#messages/gateway-problems';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DispatchContext } from '../../contracts/dispatch.ts';
import type { ProviderAccount } from '../../contracts/control/provider-users.ts';
import { Problem } from '../../contracts/problem.ts';
import { getReturnPath } from '../domain/return-path.ts';
import { redirect, sendHtml } from '../pages/responses.ts';
import type { GatewayMetrics } from '../metrics.ts';
import type { SessionCookie } from '../sign-in/cookie.ts';
import { renderSignInPage } from '../sign-in/pages.ts';
import type { Gate } from '../sign-in/gate.ts';
import type { SignedInAccounts } from '../sign-in/signed-in-account.ts';
import type { AuthorizationRequest, Provider } from './provider.ts';
import { RateLimiter } from '../../kit/rate-limiter.ts';

/** Maximum duration of a sign-in at the provider, in milliseconds. */
const signInTimeoutMs = 10 * 60_000;
const maxPendingSignIns = 1000;

/** Redirect URI path, on each host and port. */
export const callbackPath = '/.homeport/oidc/callback';

interface OidcDependencies {
  readonly context: Pick<
    DispatchContext,
    'caller' | 'clock' | 'log' | 'openSession' | 'publicUrl' | 'random' | 'resolveProviderUser'
  >;
  readonly provider: Provider;
  readonly cookie: SessionCookie;
  readonly signedIn: SignedInAccounts;
  readonly gate: Pick<Gate, 'endSession'>;
  readonly metrics: GatewayMetrics;
}

/** Pending sign-in of a browser. */
interface PendingSignIn {
  readonly request: AuthorizationRequest;
  readonly returnPath: string;
  readonly redirectUri: string;
  readonly expiresAt: number;
}

/**
 * Handles the redirect to the provider and the callback. A pending sign-in is bound to one browser by a cookie and can
 * be used once.
 */
export class OidcRoutes {
  readonly #deps: OidcDependencies;
  readonly #rateLimiter: RateLimiter;
  readonly #pendingSignIns = new Map<string, PendingSignIn>();

  constructor(deps: OidcDependencies) {
    this.#deps = deps;
    this.#rateLimiter = new RateLimiter(deps.context.clock, { capacity: 60, drainMs: 50 });
  }

  /**
   * Redirects the browser to the provider.
   * @throws Problem 404, 429
   */
  async begin(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): Promise<void> {
    const { context, cookie, provider } = this.#deps;
    const [to, publicUrl] = [getReturnPath(query.get('to')), context.publicUrl(request)];
    if (provider.name === undefined || publicUrl === undefined)
      throw new Problem('gateway.no_route', 404, m.noProvider());
    this.#limit(request);
    try {
      const redirectUri = `${publicUrl}${callbackPath}`;
      const { url, request: authorization } = await provider.buildAuthorizationUrl(redirectUri);
      const ticket = context.random.text(32);
      this.#store(ticket, {
        request: authorization,
        returnPath: to,
        redirectUri,
        expiresAt: context.clock.now() + signInTimeoutMs,
      });
      redirect(response, 302, url, { 'Set-Cookie': cookie.setTicket(request, ticket, signInTimeoutMs / 1000) });
    } catch (error) {
      this.#refuse(request, response, { error, returnPath: to });
    }
  }

  /**
   * Handles the callback of the provider.
   * @throws Problem 404, 429
   */
  async callback(request: IncomingMessage, response: ServerResponse, query: string): Promise<void> {
    const { context, cookie, gate, metrics, provider, signedIn } = this.#deps;
    if (provider.name === undefined) throw new Problem('gateway.no_route', 404, m.noProvider());
    this.#limit(request);
    let to = '/';
    try {
      const {
        request: authorization,
        redirectUri,
        returnPath,
      } = this.#takePending(cookie.ticket(request), new URLSearchParams(query));
      to = returnPath;
      const user = await provider.handleCallback(`${redirectUri}?${query}`, authorization);
      const account = await this.#getAccount(user);
      const { remoteAddress } = context.caller(request);
      const userAgent = request.headers['user-agent'] ?? '';
      const { identity, secret } = await context.openSession(account, { remoteAddress, userAgent });
      await gate.endSession(request);
      await signedIn.add(identity, request);
      metrics.signIn('right');
      redirect(response, 303, to, { 'Set-Cookie': [cookie.set(request, secret), cookie.clearTicket(request)] });
    } catch (error) {
      this.#refuse(request, response, { error, returnPath: to });
    }
  }

  /** @throws Problem 403 */
  async #getAccount({ issuer, subject, result }: Awaited<ReturnType<Provider['handleCallback']>>): Promise<string> {
    const { context, provider } = this.#deps;
    const names = { provider: provider.name ?? '', subject: subject.slice(0, 100) };
    if (result.is === 'not-allowed') throw new Problem('gateway.not_allowed', 403, m.subjectNotAllowed(names));
    if (result.is === 'email-unverified')
      throw new Problem('gateway.email_unverified', 403, m.subjectEmailUnverified(names));
    const { assignedAccount, assignedToOthers, name, rights } = result;
    const mayCreate = provider.createsAccounts && assignedAccount === undefined;
    const account = await context.resolveProviderUser({
      ...{ issuer, subject, assignedAccount, assignedToOthers, name, mayCreate },
      ...rights,
    });
    if (account.is === 'account') return account.name;
    throw toRefusal(account, names);
  }

  #store(ticket: string, pending: PendingSignIn): void {
    const now = this.#deps.context.clock.now();
    for (const [key, { expiresAt: until }] of this.#pendingSignIns) if (until < now) this.#pendingSignIns.delete(key);
    const [oldest] = this.#pendingSignIns.keys();
    if (this.#pendingSignIns.size >= maxPendingSignIns && oldest !== undefined) this.#pendingSignIns.delete(oldest);
    this.#pendingSignIns.set(ticket, pending);
  }

  /** @throws Problem `gateway.too_late` (401) */
  #takePending(ticket: string | undefined, query: URLSearchParams): PendingSignIn {
    const pending = this.#pendingSignIns.get(ticket ?? '');
    const isStateValid = pending?.request.state === query.get('state');
    if (ticket !== undefined && isStateValid) this.#pendingSignIns.delete(ticket);
    if (pending !== undefined && isStateValid && pending.expiresAt >= this.#deps.context.clock.now()) return pending;
    throw new Problem('gateway.too_late', 401, m.providerSignInExpired());
  }

  #limit(request: IncomingMessage): void {
    if (this.#rateLimiter.take(this.#deps.context.caller(request).remoteAddress)) return;
    throw new Problem('gateway.too_many', 429, m.tooManyAttempts(), { headers: { 'Retry-After': '3' } });
  }

  #refuse(
    request: IncomingMessage,
    response: ServerResponse,
    { error, returnPath: to }: { readonly error: unknown; readonly returnPath: string },
  ): void {
    if (!(error instanceof Problem) || error.status === 500) throw error;
    const { context, metrics, provider } = this.#deps;
    metrics.signIn('wrong');
    context.log.info('provider sign-in rejected', { code: error.code });
    sendHtml(response, error.status, renderSignInPage(to, { error: error.detail, provider: provider.name }));
  }
}

/** Explains why a user has no account. The subject is shown, so that the owner can add it to the settings. */
function toRefusal(
  refusal: Exclude<ProviderAccount, { readonly is: 'account' }>,
  names: { readonly provider: string; readonly subject: string },
): Problem {
  if (refusal.is === 'nameless') return new Problem('gateway.nameless', 403, m.subjectWithoutAccount(names));
  const details = { ...names, account: refusal.name.slice(0, 64) };
  switch (refusal.is) {
    case 'unknown':
      return new Problem('gateway.unknown_person', 403, m.subjectAccountUnknown(details));
    case 'unusable':
      return new Problem('gateway.unknown_person', 403, m.subjectAccountUnusable(details));
    case 'name-taken':
      return new Problem('gateway.name_taken', 403, m.subjectNameTaken(details));
    case 'administrator':
      return new Problem('gateway.administrator', 403, m.subjectIsAdministrator(names));
  }
}
