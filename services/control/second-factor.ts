import * as m from '#messages/control-problems';
import { implement, type ApiHandler } from '../contracts/api.ts';
import type { Accounts, Identity } from '../contracts/control/accounts.ts';
import { secondFactorApi } from '../contracts/control/second-factor-routes.ts';
import { Problem } from '../contracts/problem.ts';
import { verifyPassword } from './verify-password.ts';

const success = {};

/** Routes about the second factor of the own account, and its reset by administrators. */
export function secondFactorRoutes({ accounts }: { readonly accounts: Accounts }): readonly ApiHandler[] {
  const { factors } = accounts;
  const prove = (name: string, password: string, remoteAddress: string): Promise<void> =>
    verifyPassword(accounts, { name, password, remoteAddress, field: 'password' });
  return [
    implement(secondFactorApi.read, ({ identity }) => factors.status(requireAccount(identity))),
    implement(secondFactorApi.begin, async ({ identity, body, remoteAddress }) => {
      const name = requireAccount(identity);
      await prove(name, body.password, remoteAddress);
      return factors.begin(name);
    }),
    implement(secondFactorApi.confirm, async ({ identity, body, remoteAddress }) => ({
      recoveryCodes: [...(await factors.confirm(requireAccount(identity), body.code, remoteAddress))],
    })),
    implement(secondFactorApi.renewRecoveryCodes, async ({ identity, body, remoteAddress }) => {
      const name = requireAccount(identity);
      return { recoveryCodes: [...(await factors.renewRecoveryCodes(name, body.code, remoteAddress))] };
    }),
    implement(secondFactorApi.disable, async ({ identity, body, remoteAddress }) => {
      await factors.disable(requireAccount(identity), body.code, remoteAddress);
      return success;
    }),
    implement(secondFactorApi.beginPasskey, async ({ identity, body, remoteAddress, origin = '' }) => {
      const name = requireAccount(identity);
      await prove(name, body.password, remoteAddress);
      return { options: await factors.beginPasskey(name, origin) };
    }),
    implement(secondFactorApi.addPasskey, ({ identity, body, origin = '' }) =>
      factors.addPasskey(requireAccount(identity), body.label, body.response, origin),
    ),
    implement(secondFactorApi.removePasskey, async ({ identity, params, body, remoteAddress }) => {
      const name = requireAccount(identity);
      await prove(name, body.password, remoteAddress);
      await factors.removePasskey(name, params['id'] ?? '');
      return success;
    }),
    implement(secondFactorApi.reset, async ({ identity, params }) => {
      const name = params['name'] ?? '';
      if (name === identity?.account) {
        const detail = m.ownSecondFactor();
        throw new Problem('accounts.own_second_factor', 409, detail);
      }
      if ((await accounts.find(name)) === undefined) {
        throw new Problem('accounts.unknown', 404, m.accountNotFound({ name }));
      }
      await factors.reset(name);
      return success;
    }),
    implement(secondFactorApi.passkeyOptions, async ({ body, origin = '' }) => ({
      options: (await factors.passkeyOptions(body.ticket, origin)) ?? null,
    })),
  ];
}

/** @throws Problem `accounts.person_needed` (403): a token that leaked must not take the account over */
function requireAccount(identity: Identity | undefined): string {
  if (identity?.via === 'session' || identity?.via === 'password') return identity.account;
  throw new Problem('accounts.person_needed', 403, m.sessionNeeded());
}
