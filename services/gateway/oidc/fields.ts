import * as m from '#messages/gateway-settings';
import { z } from 'zod';
import { groupGrantPattern } from '../domain/provider-account.ts';

const text = z.string().min(1).max(256);
const claimName = z
  .string()
  .max(64)
  .regex(/^[A-Za-z0-9_:./-]+$/, { error: m.claimNameInvalid });

/** Settings of the sign-in with an OpenID Connect provider. */
export const oidcFields = {
  oidcIssuer: z
    .string()
    .max(2048)
    .regex(/^(https:\/\/[^\s/?#]+[^\s?#]*)?$/, { error: m.oidcIssuerInvalid })
    .default('')
    .meta({
      live: true,
      label: m.oidcIssuer,
      help: m.oidcIssuerHelp,
    }),
  oidcVerify: z
    .boolean()
    .default(true)
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      label: m.oidcVerify,
      help: m.oidcVerifyHelp,
    }),
  oidcName: z
    .string()
    .max(60)
    .default('')
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      label: m.oidcName,
      help: m.oidcNameHelp,
    }),
  oidcClientId: z
    .string()
    .max(256)
    .default('')
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      label: m.oidcClientId,
      help: m.oidcClientIdHelp,
    }),
  oidcClientSecret: z
    .string()
    .max(1024)
    .default('')
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      label: m.oidcClientSecret,
      help: m.oidcClientSecretHelp,
      secret: true,
    }),
  oidcScopes: z
    .string()
    .max(256)
    .regex(/^[\x21-\x7e]+( [\x21-\x7e]+)*$/, { error: m.oidcScopesInvalid })
    .default('openid profile email groups')
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      label: m.oidcScopes,
      help: m.oidcScopesHelp,
    }),
  oidcSubjects: z
    .array(text)
    .max(200)
    .default([])
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      label: m.oidcSubjects,
      help: m.oidcSubjectsHelp,
    }),
  oidcGroups: z
    .array(text)
    .max(200)
    .default([])
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      label: m.oidcGroups,
      help: m.oidcGroupsHelp,
    }),
  oidcEmailDomains: z
    .array(
      z
        .string()
        .max(253)
        .regex(/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]{2,63}$/i, { error: m.oidcEmailDomainsInvalid }),
    )
    .max(50)
    .default([])
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      label: m.oidcEmailDomains,
      help: m.oidcEmailDomainsHelp,
    }),
  oidcCreateAccounts: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      label: m.oidcCreateAccounts,
      help: m.oidcCreateAccountsHelp,
    }),
  oidcAdminGroups: z
    .array(text)
    .max(50)
    .default([])
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      label: m.oidcAdminGroups,
      help: m.oidcAdminGroupsHelp,
    }),
  oidcGroupGrants: z
    .array(z.string().max(500).regex(groupGrantPattern, { error: m.oidcGroupGrantsInvalid }))
    .max(200)
    .default([])
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      label: m.oidcGroupGrants,
      help: m.oidcGroupGrantsHelp,
    }),
  oidcGroupsClaim: claimName.default('groups').meta({
    live: true,
    needs: { oidcIssuer: true },
    label: m.oidcGroupsClaim,
    help: m.oidcGroupsClaimHelp,
  }),
  oidcAccountClaim: claimName.default('preferred_username').meta({
    live: true,
    needs: { oidcIssuer: true },
    label: m.oidcAccountClaim,
    help: m.oidcAccountClaimHelp,
  }),
  oidcAccounts: z
    .array(
      z
        .string()
        .max(400)
        .regex(/^.+=[-_.+@a-zA-Z0-9]{1,64}$/, { error: m.oidcAccountsInvalid }),
    )
    .max(200)
    .default([])
    .meta({
      live: true,
      needs: { oidcIssuer: true },
      label: m.oidcAccounts,
      help: m.oidcAccountsHelp,
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
  GATEWAY_OIDC_EMAIL_DOMAINS: 'oidcEmailDomains',
  GATEWAY_OIDC_CREATE_ACCOUNTS: 'oidcCreateAccounts',
  GATEWAY_OIDC_ADMIN_GROUPS: 'oidcAdminGroups',
  GATEWAY_OIDC_GROUP_GRANTS: 'oidcGroupGrants',
  GATEWAY_OIDC_GROUPS_CLAIM: 'oidcGroupsClaim',
  GATEWAY_OIDC_ACCOUNT_CLAIM: 'oidcAccountClaim',
  GATEWAY_OIDC_ACCOUNTS: 'oidcAccounts',
} as const;

export type OidcSettings = { [Field in keyof typeof oidcFields]: z.infer<(typeof oidcFields)[Field]> };
