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
        'Address of the issuer, such as that of Authelia, authentik or Keycloak: the sign-in page then ' +
        'offers it beside the password. Empty: off.',
    }),
  oidcVerify: z
    .boolean()
    .default(true)
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: "Check the provider's certificate",
      description:
        'Off: its host may show any certificate, such as one of its own making. Whoever is between it and ' +
        'this machine can then say who somebody is.',
    }),
  oidcName: z
    .string()
    .max(60)
    .default('')
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: 'Name of the provider',
      description: 'As the button says it: Sign in with NAME. Empty: the host of its address.',
    }),
  oidcClientId: z
    .string()
    .max(256)
    .default('')
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: 'Client ID',
      description: 'As the provider knows Homeport.',
    }),
  oidcClientSecret: z
    .string()
    .max(1024)
    .default('')
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: 'Client secret',
      description: 'Empty for a public client, which proves itself by PKCE alone.',
      secret: true,
    }),
  oidcScopes: z
    .string()
    .max(256)
    .regex(/^[\x21-\x7e]+( [\x21-\x7e]+)*$/, 'Use words with a space between them.')
    .default('openid profile email groups')
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: 'Scopes',
      description: 'What is asked for at the provider, with a space between; openid is one of them.',
    }),
  oidcSubjects: z
    .array(text)
    .max(200)
    .default([])
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: 'Who may sign in by it',
      description: 'Subjects (the claim sub) that are let in. Without any here, below or among the groups nobody is.',
    }),
  oidcGroups: z
    .array(text)
    .max(200)
    .default([])
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      title: 'Groups that may sign in by it',
      description: 'Who the provider says to be in one of these is let in.',
    }),
  oidcGroupsClaim: claimName.default('groups').meta({
    live: true,
    needs: { oidcIssuer: true },
    title: 'Claim with the groups',
    description: 'Where the provider lists the groups of a person.',
  }),
  oidcAccountClaim: claimName.default('preferred_username').meta({
    live: true,
    needs: { oidcIssuer: true },
    title: 'Claim with the account',
    description:
      'Who is let in is signed in as the account of this name. Never as an administrator: their subjects stand below.',
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
      title: 'Accounts of single subjects',
      description: 'SUBJECT=ACCOUNT: this subject is let in and is signed in as this account, whatever its claims say.',
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
