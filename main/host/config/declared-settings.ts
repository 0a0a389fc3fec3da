import { z } from 'zod';
import { AccountName, everyone, Permission, Role } from '../../../services/contracts/control/accounts.ts';

const account = AccountName.default('').meta({ title: 'Account', description: 'Name of the account.' });

const DeclaredUser = z.object({
  name: account,
  passwordHash: z
    .string()
    .regex(
      /^\$2[aby]\$(0[4-9]|1[0-3])\$[./A-Za-z0-9]{53}$/,
      'Use a bcrypt hash with a cost of at most 13, such as $2a$10$….',
    )
    .default('')
    .meta({
      title: 'Password hash',
      description: 'A bcrypt hash with a cost of at most 13, as created by ntfy user hash or htpasswd -nB.',
      secret: true,
    }),
  role: Role.default('user').meta({ title: 'Role', description: 'Administrators have every permission.' }),
});

const DeclaredGrant = z.object({
  user: z
    .union([AccountName, z.literal(everyone)])
    .default(everyone)
    .meta({
      title: 'Account',
      description: 'Name of an account, or * for visitors without an account.',
    }),
  service: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'Use the ID of a service, such as push.')
    .default('push')
    .meta({ title: 'Service', description: 'ID of a service, such as push, mail or notify.' }),
  pattern: z
    .string()
    .min(1)
    .max(128)
    .default('*')
    .meta({ title: 'Pattern', description: 'Pattern of push topics, such as alerts-*. An * matches any characters.' }),
  permission: Permission.default('read-write').meta({
    title: 'Permission',
    description: 'Permission to grant. "none" denies access and takes precedence over a shorter pattern.',
  }),
});

const DeclaredToken = z.object({
  user: account,
  token: z
    .string()
    .regex(
      /^tk_[a-z0-9]{29}$/,
      'Use tk_ followed by 29 lowercase letters or digits, as created by ntfy token generate.',
    )
    .default('')
    .meta({
      title: 'Token',
      description: 'tk_ followed by 29 lowercase letters or digits, as created by ntfy token generate.',
      secret: true,
    }),
  label: z.string().max(128).default('').meta({ title: 'Label', description: 'Purpose of the token.' }),
});

/** Schema of accounts, grants and tokens declared in the file, modelled on ntfy's configuration. */
export const declaredFields = {
  authUsers: z
    .array(DeclaredUser)
    .max(1000)
    .default([])
    .meta({
      title: 'Declared accounts',
      description:
        'Accounts that are created from this list and deleted when they are removed from it. Their ' +
        'password and role can only be changed here.',
    }),
  authAccess: z
    .array(DeclaredGrant)
    .max(5000)
    .default([])
    .meta({
      title: 'Declared grants',
      description:
        'Permissions of accounts and visitors in addition to those granted in the app. They are revoked ' +
        'when they are removed from this list.',
    }),
  authTokens: z
    .array(DeclaredToken)
    .max(1000)
    .default([])
    .meta({
      title: 'Declared tokens',
      description:
        'Access tokens of declared accounts. They do not expire and are revoked when they are removed from ' +
        'this list.',
    }),
};
