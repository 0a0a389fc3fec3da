import { createOkResponse, type AuthResponse, type AuthCall } from '../http/auth-call.ts';
import { createValidationError, AuthError } from '../http/auth-error.ts';
import type { AuthDependencies } from '../dependencies.ts';
import type { Route } from './route.ts';

/** Routes that need no sign-in. */
export const publicRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/health',
    answer: () =>
      resolve({ version: '', name: 'GoTrue', description: 'GoTrue is a user registration and authentication API' }),
  },
  { method: 'GET', path: '/settings', answer: ({ settings }) => resolve(settingsView(settings)) },
  // Only public keys are published, never a shared secret.
  {
    method: 'GET',
    path: '/.well-known/jwks.json',
    answer: ({ keys }) => resolve({ keys: keys.published }, { 'cache-control': 'public, max-age=600' }),
  },
  { method: 'GET', path: '/authorize', answer: authorize },
  { method: 'GET', path: '/callback', answer: callback },
  { method: 'POST', path: '/callback', answer: callback },
  {
    method: 'POST',
    path: '/sso',
    answer: () => reject(new AuthError(404, 'saml_provider_disabled', 'SAML 2.0 is disabled')),
  },
];

const providers = [
  'apple',
  'azure',
  'bitbucket',
  'discord',
  'facebook',
  'snapchat',
  'figma',
  'fly',
  'github',
  'gitlab',
  'google',
  'keycloak',
  'kakao',
  'linkedin',
  'linkedin_oidc',
  'notion',
  'spotify',
  'slack',
  'slack_oidc',
  'workos',
  'twitch',
  'twitter',
  'zoom',
];

function resolve(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<AuthResponse> {
  return Promise.resolve(createOkResponse(body, headers));
}

function reject(error: AuthError): Promise<AuthResponse> {
  return Promise.reject(error);
}

function settingsView({ anonymousSignIns, autoconfirm, signUp }: AuthDependencies['settings']): unknown {
  return {
    external: {
      anonymous_users: anonymousSignIns,
      ...Object.fromEntries(providers.map((name) => [name, false])),
      email: true,
      phone: false,
    },
    disable_signup: !signUp,
    mailer_autoconfirm: autoconfirm,
    phone_autoconfirm: false,
    sms_provider: '',
    saml_enabled: false,
    saml_private_key_next_configured: true,
    passkeys_enabled: false,
  };
}

function authorize(_parts: AuthDependencies, { query }: AuthCall): Promise<AuthResponse> {
  const provider = query.get('provider') ?? '';
  const isKnown = providers.includes(provider);
  return reject(
    createValidationError(
      `Unsupported provider: ${isKnown ? 'provider is not enabled' : `Provider ${provider.slice(0, 100)} could not be found`}`,
    ),
  );
}

function callback(): Promise<AuthResponse> {
  return reject(new AuthError(400, 'bad_oauth_callback', 'OAuth state parameter missing'));
}
