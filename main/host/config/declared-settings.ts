import * as m from '#messages/host-settings';
import { z } from 'zod';
import { AccountName, everyone, Permission, Role } from '../../../services/contracts/control/accounts.ts';

const account = AccountName.default('').meta({ label: m.account, help: m.accountHelp });

const DeclaredUser = z.object({
  name: account,
  passwordHash: z
    .string()
    .regex(/^\$2[aby]\$(0[4-9]|1[0-3])\$[./A-Za-z0-9]{53}$/, { error: m.passwordHashInvalid })
    .default('')
    .meta({
      label: m.passwordHash,
      help: m.passwordHashHelp,
      secret: true,
    }),
  role: Role.default('user').meta({ label: m.role, help: m.roleHelp }),
});

const DeclaredGrant = z.object({
  user: z
    .union([AccountName, z.literal(everyone)])
    .default(everyone)
    .meta({
      label: m.user,
      help: m.userHelp,
    }),
  service: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, { error: m.serviceInvalid })
    .default('push')
    .meta({ label: m.service, help: m.serviceHelp }),
  pattern: z.string().min(1).max(128).default('*').meta({ label: m.pattern, help: m.patternHelp }),
  permission: Permission.default('read-write').meta({
    label: m.permission,
    help: m.permissionHelp,
  }),
});

const DeclaredToken = z.object({
  user: account,
  token: z
    .string()
    .regex(/^tk_[a-z0-9]{29}$/, { error: m.tokenInvalid })
    .default('')
    .meta({
      label: m.token,
      help: m.tokenHelp,
      secret: true,
    }),
  label: z.string().max(128).default('').meta({ label: m.label, help: m.labelHelp }),
});

/** Schema of accounts, grants and tokens declared in the file, modelled on ntfy's configuration. */
export const declaredFields = {
  authUsers: z.array(DeclaredUser).max(1000).default([]).meta({
    label: m.authUsers,
    help: m.authUsersHelp,
  }),
  authAccess: z.array(DeclaredGrant).max(5000).default([]).meta({
    label: m.authAccess,
    help: m.authAccessHelp,
  }),
  authTokens: z.array(DeclaredToken).max(1000).default([]).meta({
    label: m.authTokens,
    help: m.authTokensHelp,
  }),
};
