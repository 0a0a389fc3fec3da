import { z } from 'zod';

const text = z.string().min(1).max(256);
const claimName = z
  .string()
  .max(64)
  .regex(/^[A-Za-z0-9_:./-]+$/, 'Use the name of a claim, such as groups.');

/** Settings of the sign-in with an OpenID Connect provider. */
export const oidcFields = {
  oidcIssuer: z
    .string()
    .max(2048)
    .regex(/^(https:\/\/[^\s/?#]+[^\s?#]*)?$/, 'Use an address such as https://auth.example.org.')
    .default('')
    .meta({
      live: true,
      title: 'OpenID provider',
      description:
        'Issuer URL of an identity provider such as Authelia, authentik or Keycloak. The sign-in page then ' +
        'offers it in addition to the password. Leave empty to disable.',
    }),
  oidcVerify: z
    .boolean()
    .default(true)
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: "Verify the provider's certificate",
      description:
        'When off, any certificate is accepted, such as a self-signed one. Attackers on the network path ' +
        'can then sign in as any user.',
    }),
  oidcName: z
    .string()
    .max(60)
    .default('')
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: 'Provider name',
      description: 'Shown on the button: Sign in with NAME. Leave empty to use the host name of the provider.',
    }),
  oidcClientId: z
    .string()
    .max(256)
    .default('')
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: 'Client ID',
      description: 'Client ID of Homeport at the provider.',
    }),
  oidcClientSecret: z
    .string()
    .max(1024)
    .default('')
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: 'Client secret',
      description: 'Client secret of Homeport at the provider. Leave empty for a public client that uses PKCE only.',
      secret: true,
    }),
  oidcScopes: z
    .string()
    .max(256)
    .regex(/^[\x21-\x7e]+( [\x21-\x7e]+)*$/, 'Use words separated by spaces.')
    .default('openid profile email groups')
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: 'Scopes',
      description: 'Scopes requested from the provider, separated by spaces. They must include openid.',
    }),
  oidcSubjects: z
    .array(text)
    .max(200)
    .default([])
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: 'Allowed subjects',
      description:
        'Subjects (claim sub) that can sign in. Nobody can sign in unless they are listed here, in the ' +
        'allowed groups or in the subject accounts.',
    }),
  oidcGroups: z
    .array(text)
    .max(200)
    .default([])
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: 'Allowed groups',
      description: 'Members of these groups at the provider can sign in.',
    }),
  oidcGroupsClaim: claimName.default('groups').meta({
    live: true,
    needs: { oidcIssuer: true },
    title: 'Groups claim',
    description: 'Claim that lists the groups of a user.',
  }),
  oidcAccountClaim: claimName.default('preferred_username').meta({
    live: true,
    needs: { oidcIssuer: true },
    title: 'Account claim',
    description:
      'Claim with the name of the account to sign in to. Administrators cannot sign in this way; list ' +
      'their subjects in the subject accounts.',
  }),
  oidcAccounts: z
    .array(
      z
        .string()
        .max(400)
        .regex(/^.+=[-_.+@a-zA-Z0-9]{1,64}$/, 'Use SUBJECT=ACCOUNT.'),
    )
    .max(200)
    .default([])
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: 'Subject accounts',
      description: 'SUBJECT=ACCOUNT: signs the subject in to this account, regardless of its claims.',
    }),
} as const;

export const oidcEnvironment = {
  GATEWAY_OIDC_ISSUER: 'oidcIssuer',
  GATEWAY_OIDC_VERIFY: 'oidcVerify',
  GATEWAY_OIDC_NAME: 'oidcName',
  GATEWAY_OIDC_CLIENT_ID: 'oidcClientId',
  GATEWAY_OIDC_CLIENT_SECRET: 'oidcClientSecret',
  GATEWAY_OIDC_SCOPES: 'oidcScopes',
  GATEWAY_OIDC_SUBJECTS: 'oidcSubjects',
  GATEWAY_OIDC_GROUPS: 'oidcGroups',
  GATEWAY_OIDC_GROUPS_CLAIM: 'oidcGroupsClaim',
  GATEWAY_OIDC_ACCOUNT_CLAIM: 'oidcAccountClaim',
  GATEWAY_OIDC_ACCOUNTS: 'oidcAccounts',
} as const;

export type OidcSettings = { [Field in keyof typeof oidcFields]: z.infer<(typeof oidcFields)[Field]> };
