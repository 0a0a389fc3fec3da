import { implement, type ApiHandler } from '../contracts/api.ts';
import type { Accounts, Identity } from '../contracts/control/accounts.ts';
import { secondFactorApi } from '../contracts/control/second-factor-routes.ts';
import { Problem } from '../contracts/problem.ts';

const success = {};

/** Routes for the second factor of the caller's account, and for its reset by administrators. */
export function secondFactorRoutes({ accounts }: { readonly accounts: Accounts }): readonly ApiHandler[] {
  const { factors } = accounts;
  return [
    implement(secondFactorApi.read, ({ identity }) => factors.status(requireAccount(identity))),
    implement(secondFactorApi.begin, ({ identity }) => factors.begin(requireAccount(identity))),
    implement(secondFactorApi.confirm, async ({ identity, body, remoteAddress }) => ({
      recoveryCodes: [...(await factors.confirm(requireAccount(identity), body.code, remoteAddress))],
    })),
    implement(secondFactorApi.disable, async ({ identity, body, remoteAddress }) => {
      await factors.disable(requireAccount(identity), body.code, remoteAddress);
      return success;
    }),
    implement(secondFactorApi.beginPasskey, async ({ identity, origin = '' }) => ({
      options: await factors.beginPasskey(requireAccount(identity), origin),
    })),
    implement(secondFactorApi.addPasskey, ({ identity, body, origin = '' }) =>
      factors.addPasskey(requireAccount(identity), body.label, body.response, origin),
    ),
    implement(secondFactorApi.removePasskey, async ({ identity, params }) => {
      await factors.removePasskey(requireAccount(identity), params['id'] ?? '');
      return success;
    }),
    implement(secondFactorApi.reset, async ({ params }) => {
      const name = params['name'] ?? '';
      if ((await accounts.find(name)) === undefined) {
        throw new Problem('accounts.unknown', 404, `There is no account called ${name}.`);
      }
      await factors.reset(name);
      return success;
    }),
    implement(secondFactorApi.passkeyOptions, async ({ body, origin = '' }) => ({
      options: (await factors.passkeyOptions(body.ticket, origin)) ?? null,
    })),
  ];
}

/**
 * Returns the account of the caller.
 *
 * @throws Problem `accounts.person_needed` (403), because a leaked token must not take over the account
 */
function requireAccount(identity: Identity | undefined): string {
  if (identity?.via === 'session' || identity?.via === 'password') return identity.account;
  throw new Problem('accounts.person_needed', 403, 'Sign in with the password for this; a token is not enough.');
}
