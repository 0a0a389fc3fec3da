import { ok, type Answer, type Call } from '../http/auth-call.ts';
import { invalid, Refusal } from '../http/auth-error.ts';
import type { AuthParts } from '../dependencies.ts';
import type { Route } from './route.ts';

/** Routes that need no sign-in. */
export const publicRoutes: readonly Route[] = [
  [
    'GET',
    '/health',
    () =>
      answered({ version: '', name: 'GoTrue', description: 'GoTrue is a user registration and authentication API' }),
  ],
  ['GET', '/settings', ({ settings }) => answered(settingsView(settings))],
  // Only public keys are published, never a shared secret.
  [
    'GET',
    '/.well-known/jwks.json',
    ({ keys }) => answered({ keys: keys.published }, { 'cache-control': 'public, max-age=600' }),
  ],
  ['GET', '/authorize', authorize],
  ['GET', '/callback', callback],
  ['POST', '/callback', callback],
  ['POST', '/sso', () => refused(new Refusal(404, 'saml_provider_disabled', 'SAML 2.0 is disabled'))],
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

function answered(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return Promise.resolve(ok(body, headers));
}

function refused(refusal: Refusal): Promise<Answer> {
  return Promise.reject(refusal);
}

function settingsView({ anonymousSignIns, autoconfirm, signUp }: AuthParts['settings']): unknown {
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

function authorize(_parts: AuthParts, { query }: Call): Promise<Answer> {
  const provider = query.get('provider') ?? '';
  const known = providers.includes(provider);
  return refused(
    invalid(
      `Unsupported provider: ${known ? 'provider is not enabled' : `Provider ${provider.slice(0, 100)} could not be found`}`,
    ),
  );
}

function callback(): Promise<Answer> {
  return refused(new Refusal(400, 'bad_oauth_callback', 'OAuth state parameter missing'));
}
