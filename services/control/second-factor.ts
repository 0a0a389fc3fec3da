import { implement, type ApiHandler } from '../contracts/api.ts';
import type { Accounts, Identity } from '../contracts/control/accounts.ts';
import { secondFactorApi } from '../contracts/control/second-factor-routes.ts';
import { Problem } from '../contracts/problem.ts';

const done = {};

/** Routes about the second factor of the own account, and its reset by administrators. */
export function secondFactorRoutes({ accounts }: { readonly accounts: Accounts }): readonly ApiHandler[] {
  const { factors } = accounts;
  return [
    implement(secondFactorApi.read, ({ identity }) => factors.status(personOf(identity))),
    implement(secondFactorApi.begin, ({ identity }) => factors.begin(personOf(identity))),
    implement(secondFactorApi.confirm, async ({ identity, body, remoteAddress }) => ({
      recoveryCodes: [...(await factors.confirm(personOf(identity), body.code, remoteAddress))],
    })),
    implement(secondFactorApi.disable, async ({ identity, body, remoteAddress }) => {
      await factors.disable(personOf(identity), body.code, remoteAddress);
      return done;
    }),
    implement(secondFactorApi.beginPasskey, async ({ identity, origin = '' }) => ({
      options: await factors.beginPasskey(personOf(identity), origin),
    })),
    implement(secondFactorApi.addPasskey, ({ identity, body, origin = '' }) =>
      factors.addPasskey(personOf(identity), body.label, body.response, origin),
    ),
    implement(secondFactorApi.removePasskey, async ({ identity, params }) => {
      await factors.removePasskey(personOf(identity), params['id'] ?? '');
      return done;
    }),
    implement(secondFactorApi.reset, async ({ params }) => {
      const name = params['name'] ?? '';
      if ((await accounts.find(name)) === undefined) {
        throw new Problem('accounts.unknown', 404, `There is no account called ${name}.`);
      }
      await factors.reset(name);
      return done;
    }),
    implement(secondFactorApi.passkeyOptions, async ({ body, origin = '' }) => ({
      options: (await factors.passkeyOptions(body.ticket, origin)) ?? null,
    })),
  ];
}

/** @throws Problem `accounts.person_needed` (403): a token that leaked must not take the account over */
function personOf(identity: Identity | undefined): string {
  if (identity?.via === 'session' || identity?.via === 'password') return identity.account;
  throw new Problem('accounts.person_needed', 403, 'Sign in with the password for this; a token is not enough.');
}
