import { z } from 'zod';
import { AccountName, everyone, Permission, Role } from '../../../services/contracts/control/accounts.ts';

const account = AccountName.default('').meta({ title: 'Account', description: 'Its name.' });

const DeclaredUser = z.object({
  name: account,
  passwordHash: z
    .string()
    .regex(
      /^\$2[aby]\$(0[4-9]|1[0-3])\$[./A-Za-z0-9]{53}$/,
      'Use a bcrypt hash of a cost of 13 at most, such as $2a$10$….',
    )
    .default('')
    .meta({
      title: 'Hash of the password',
      description: 'As ntfy user hash or htpasswd -nB make it: a bcrypt hash of a cost of 13 at most.',
      secret: true,
    }),
  role: Role.default('user').meta({ title: 'Role', description: 'Administrators may do everything.' }),
});

const DeclaredGrant = z.object({
  user: z
    .union([AccountName, z.literal(everyone)])
    .default(everyone)
    .meta({
      title: 'Account',
      description: 'A name, or * for whoever has no account.',
    }),
  service: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'Use the id of a service, such as push.')
    .default('push')
    .meta({ title: 'Service', description: 'Such as push, mail or notify.' }),
  pattern: z
    .string()
    .min(1)
    .max(128)
    .default('*')
    .meta({ title: 'Pattern', description: 'For push topics, such as alerts-*; * is any run of characters.' }),
  permission: Permission.default('read-write').meta({
    title: 'Permission',
    description: 'What is allowed; none denies, and wins over a shorter pattern.',
  }),
});

const DeclaredToken = z.object({
  user: account,
  token: z
    .string()
    .regex(/^tk_[a-z0-9]{29}$/, 'Use tk_ and 29 of a-z and 0-9, as ntfy token generate makes it.')
    .default('')
    .meta({ title: 'Token', description: 'tk_ and 29 of a-z and 0-9, as ntfy token generate makes it.', secret: true }),
  label: z.string().max(128).default('').meta({ title: 'Label', description: 'What it is for.' }),
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
        'They are made as they stand here, and removed when they no longer do. Their password and role are changed ' +
        'here only.',
    }),
  authAccess: z.array(DeclaredGrant).max(5000).default([]).meta({
    title: 'Declared grants',
    description:
      'What accounts and strangers may do, besides what is granted on the page. Removed when it no longer stands here.',
  }),
  authTokens: z.array(DeclaredToken).max(1000).default([]).meta({
    title: 'Declared tokens',
    description: 'Access tokens of declared accounts, without an end. Removed when they no longer stand here.',
  }),
};
