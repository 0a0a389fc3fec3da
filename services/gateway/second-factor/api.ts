import { implement, type ApiHandler } from '../../contracts/api.ts';
import type { Identity } from '../../contracts/control/accounts.ts';
import { secondFactorApi } from '../../contracts/gateway/second-factor.ts';
import { Problem } from '../../contracts/problem.ts';
import type { SecondFactors } from './second-factors.ts';

/** Our own API around the second factor: each person's own, and for administrators the way to switch off another's. */
export function secondFactorRoutes(factors: () => SecondFactors): ApiHandler[] {
  return [
    implement(secondFactorApi.read, async ({ identity }) => {
      const left = await factors().recoveryLeft(accountOf(identity));
      return { on: left !== undefined, recoveryLeft: left ?? 0 };
    }),
    implement(secondFactorApi.begin, ({ identity }) => factors().begin(accountOf(identity))),
    implement(secondFactorApi.confirm, async ({ identity, body, remoteAddress }) => ({
      recoveryCodes: [...(await factors().confirm(accountOf(identity), body.code, remoteAddress))],
    })),
    implement(secondFactorApi.switchOff, async ({ identity, body, remoteAddress }) => {
      await factors().switchOff(accountOf(identity), body.code, remoteAddress);
      return {};
    }),
    implement(secondFactorApi.reset, async ({ params }) => {
      await factors().forget(params['account'] ?? '');
      return {};
    }),
  ];
}

/** @throws Problem `gateway.person_needed` (403) */
function accountOf(identity: Identity | undefined): string {
  if (identity?.via === 'session' || identity?.via === 'password') return identity.account;
  throw new Problem('gateway.person_needed', 403, 'A person who is signed in does this, not a token.');
}
