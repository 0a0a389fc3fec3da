import { accessApi, type AccessReason } from '../contracts/control/access.ts';
import { everyone, type Account, type Accounts, type Identity } from '../contracts/control/accounts.ts';
import { implement, type ApiHandler } from '../contracts/api.ts';
import { Problem } from '../contracts/problem.ts';

/** Routes about who may do what, answered by the very rules that the services ask. */
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
        throw new Problem('accounts.unknown', 404, `There is no account called ${name}.`);
      }
      const allowed = accounts.may(account && asIfSignedIn(account), service, permission, resource);
      return { allowed, reason: reasonOf(account, allowed) };
    }),
  ];
}

/** The identity that this account would have after proving its password. */
function asIfSignedIn({ name, kind, role }: Account): Identity {
  return { account: name, kind, role, via: 'password' };
}

function reasonOf(account: Account | undefined, allowed: boolean): AccessReason {
  if (account?.enabled === false) return 'switched-off';
  if (account?.role === 'admin') return 'administrator';
  return allowed ? 'granted' : 'not-granted';
}
