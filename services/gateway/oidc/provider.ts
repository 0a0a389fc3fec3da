import * as m from '#messages/gateway-problems';
import type * as Oidc from 'openid-client';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import {
  mapToAccount,
  needsUserInfo,
  type Claims,
  type MappingResult,
  type MappingRules,
} from '../domain/provider-account.ts';
import type { OidcSettings } from './fields.ts';

/** Cache duration of the provider metadata, in milliseconds. */
const cacheMs = 3_600_000;

/** Values that bind a callback to its authorization request. */
export interface AuthorizationRequest {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

interface CachedConfiguration {
  readonly key: string;
  readonly loadedAt: number;
  readonly configuration: Promise<Oidc.Configuration>;
}

/** Client of the configured OpenID provider (authorization code flow with PKCE). The library is loaded on first use. */
export class Provider {
  readonly #context: Pick<Context, 'clock' | 'fetch' | 'log'>;
  readonly #settings: Readonly<OidcSettings>;
  #cached: CachedConfiguration | undefined;

  constructor(context: Pick<Context, 'clock' | 'fetch' | 'log'>, settings: Readonly<OidcSettings>) {
    this.#context = context;
    this.#settings = settings;
  }

  /** Label of the sign-in button; undefined without a provider. */
  get name(): string | undefined {
    const { oidcIssuer, oidcName, oidcClientId } = this.#settings;
    if (oidcIssuer === '' || oidcClientId === '') return undefined;
    return oidcName === '' ? URL.parse(oidcIssuer)?.host : oidcName;
  }

  /**
   * Returns the authorization URL and the values that the callback must match.
   * @throws Problem `gateway.provider_failed` (502)
   */
  async buildAuthorizationUrl(
    redirectUri: string,
  ): Promise<{ readonly url: string; readonly request: AuthorizationRequest }> {
    const configuration = await this.#getConfiguration();
    const oidc = await import('openid-client');
    const { authorization_endpoint: endpoint = '' } = configuration.serverMetadata();
    if (URL.parse(endpoint)?.protocol !== 'https:') {
      const detail = (): string => m.providerNeedsHttps({ provider: this.name ?? '' });
      throw new Problem('gateway.provider_failed', 502, detail);
    }
    const authorization = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    };
    const challenge = await oidc.calculatePKCECodeChallenge(authorization.verifier);
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.#settings.oidcScopes,
      response_type: 'code',
      state: authorization.state,
      nonce: authorization.nonce,
      code_challenge_method: 'S256',
      code_challenge: challenge,
    });
    return { url: url.href, request: authorization };
  }

  /**
   * Validates a callback and returns the user.
   * @param current Complete URL of the callback
   * @throws Problem `gateway.provider_refused` (403), `gateway.provider_failed` (502)
   */
  async handleCallback(
    current: string,
    { state, nonce, verifier }: AuthorizationRequest,
  ): Promise<{ issuer: string; subject: string; result: MappingResult }> {
    const configuration = await this.#getConfiguration();
    const oidc = await import('openid-client');
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, new URL(current), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('no ID token');
      const rules = this.#rules;
      const userInfo: Claims =
        needsUserInfo(claims, rules) && configuration.serverMetadata().userinfo_endpoint !== undefined
          ? await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : {};
      const result = mapToAccount(claims.sub, { ...userInfo, ...claims }, rules);
      return { issuer: claims.iss, subject: claims.sub, result };
    } catch (error) {
      throw this.#toProblem(error);
    }
  }

  /** Returns true when allowed users get an account at their first sign-in. */
  get createsAccounts(): boolean {
    return this.#settings.oidcCreateAccounts;
  }

  get #rules(): MappingRules {
    const settings = this.#settings;
    return {
      subjects: settings.oidcSubjects,
      groups: settings.oidcGroups,
      emailDomains: settings.oidcEmailDomains.map((domain) => domain.toLowerCase()),
      accounts: settings.oidcAccounts,
      groupsClaim: settings.oidcGroupsClaim,
      accountClaim: settings.oidcAccountClaim,
      adminGroups: settings.oidcAdminGroups,
      groupGrants: settings.oidcGroupGrants,
    };
  }

  async #getConfiguration(): Promise<Oidc.Configuration> {
    const { oidcIssuer, oidcClientId, oidcClientSecret, oidcVerify } = this.#settings;
    const key = JSON.stringify([oidcIssuer, oidcClientId, oidcClientSecret, oidcVerify]);
    const now = this.#context.clock.now();
    const existing = this.#cached;
    const configurationEntry =
      existing?.key === key && now - existing.loadedAt < cacheMs
        ? existing
        : { key, loadedAt: now, configuration: this.#discover() };
    this.#cached = configurationEntry;
    try {
      return await configurationEntry.configuration;
    } catch (error) {
      if (this.#cached === configurationEntry) this.#cached = undefined;
      throw this.#toProblem(error);
    }
  }

  async #discover(): Promise<Oidc.Configuration> {
    const { oidcIssuer, oidcClientId, oidcClientSecret } = this.#settings;
    const oidc = await import('openid-client');
    const issuer = new URL(oidcIssuer);
    const configuration = await oidc.discovery(
      issuer,
      oidcClientId,
      undefined,
      // A public client authenticates with PKCE only.
      oidcClientSecret === '' ? oidc.None() : oidc.ClientSecretBasic(oidcClientSecret),
      { [oidc.customFetch]: (url, options) => this.#fetch(issuer, url, options) },
    );
    // The signature of the ID token is verified in addition to the TLS connection.
    oidc.enableNonRepudiationChecks(configuration);
    return configuration;
  }

  /** The issuer's address is trusted; other hosts in its metadata must be public. */
  async #fetch(issuer: URL, url: string, options: Oidc.CustomFetchOptions): Promise<Response> {
    const { method, headers, body, signal } = options;
    const text = body instanceof URLSearchParams ? body.toString() : body;
    const reply = await this.#context.fetch(url, {
      method,
      headers,
      redirect: 'manual',
      timeoutMs: 15_000,
      ...(typeof text === 'string' || text instanceof Uint8Array ? { body: text } : {}),
      ...(signal === undefined ? {} : { signal }),
      ...(new URL(url).host === issuer.host ? { trust: 'owner', verify: this.#settings.oidcVerify } : {}),
    });
    const { status } = reply;
    const hasNoBody = status === 204 || status === 304;
    return new Response(hasNoBody ? null : Buffer.from(reply.body), { status, headers: { ...reply.headers } });
  }

  #toProblem(error: unknown): Problem {
    const provider = this.name ?? '';
    const cause = findProblem(error);
    if (cause instanceof Problem) {
      const detail = (): string => m.providerUnavailable({ provider, reason: cause.detail });
      return new Problem('gateway.provider_failed', 502, detail, { cause: error });
    }
    const code = findErrorCode(error);
    if (code !== undefined) {
      const detail =
        code === 'access_denied' ? m.providerSignInCanceled({ provider }) : m.providerRefused({ provider, code });
      return new Problem('gateway.provider_refused', 403, detail, { cause: error });
    }
    this.#context.log.warn('provider sign-in failed', { error });
    return new Problem('gateway.provider_failed', 502, () => m.providerResponseInvalid({ provider }), { cause: error });
  }
}

/** Returns the problem that the library wrapped, if any. */
function findProblem(error: unknown): unknown {
  let current: unknown = error;
  for (let depth = 0; depth < 4 && current instanceof Error && !(current instanceof Problem); depth += 1) {
    current = current.cause;
  }
  return current;
}

/** Returns the OAuth error code of a provider, from the redirect or the token endpoint. */
function findErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'error' in error ? error.error : undefined;
  return typeof code === 'string' && /^[a-z_]{1,64}$/.test(code) ? code : undefined;
}
