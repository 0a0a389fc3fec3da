import * as m from '#messages/control-problems';
import { accessApi, type AccessReason } from '../contracts/control/access.ts';
import { everyone, type Account, type Accounts, type Identity } from '../contracts/control/accounts.ts';
import { implement, type ApiHandler } from '../contracts/api.ts';
import { Problem } from '../contracts/problem.ts';

/** Routes that list and check grants with the same rules as the services. */
export function accessRoutes({ accounts }: { readonly accounts: Accounts }): readonly ApiHandler[] {
  return [
    implement(accessApi.anyone, async () => ({ grants: [...((await accounts.find(everyone))?.grants ?? [])] })),
    implement(accessApi.changeAnyone, async ({ body }) => {
      const { grants } = await accounts.change(everyone, { grants: body.grants });
      return { grants: [...grants] };
    }),
    implement(accessApi.check, async ({ query: { account: name, service, permission, resource } }) => {
      const account = name === undefined ? undefined : await accounts.find(name);
      if (name !== undefined && account === undefined) {
        throw new Problem('accounts.unknown', 404, m.accountNotFound({ name }));
      }
      const allowed = accounts.may(account && toIdentity(account), service, permission, resource);
      return { allowed, reason: getReason(account, allowed) };
    }),
  ];
}

/** Returns the identity of this account after signing in with its password. */
function toIdentity({ name, kind, role }: Account): Identity {
  return { account: name, kind, role, via: 'password' };
}

function getReason(account: Account | undefined, allowed: boolean): AccessReason {
  if (account?.enabled === false) return 'switched-off';
  if (account?.role === 'admin') return 'administrator';
  return allowed ? 'granted' : 'not-granted';
}
