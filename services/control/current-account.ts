import { ownAccountApi } from '../contracts/control/access.ts';
import type { Accounts, Identity } from '../contracts/control/accounts.ts';
import type { ControlContext } from '../contracts/control/host.ts';
import { implement, type ApiHandler } from '../contracts/api.ts';
import { Problem } from '../contracts/problem.ts';

const done = { ok: true } as const;

type Parts = Pick<ControlContext, 'accounts' | 'host'>;

/** Routes about the account that asks, for people who do not administrate as well. */
export function ownAccountRoutes({ accounts, host }: Parts): readonly ApiHandler[] {
  return [
    implement(ownAccountApi.read, async ({ identity }) => {
      const { account: name } = required(identity);
      const account = await accounts.find(name);
      if (!account) throw new Problem('accounts.unknown', 404, 'This account is not there any more.');
      return { account, tokens: [...(await accounts.tokens(name))] };
    }),
    implement(ownAccountApi.changePassword, async (request) => {
      const { account: name } = byPerson(request.identity);
      const { body, remoteAddress, userAgent } = request;
      // An open page that was left alone must not be enough to take an account over.
      await provePassword(accounts, name, body.current, remoteAddress);
      accounts.refuseWeakPassword(name, body.password);
      await accounts.change(name, { password: body.password });
      const { secret } = await host.openSession(name, { remoteAddress, userAgent });
      return { session: secret };
    }),
    implement(ownAccountApi.sessions, async ({ identity }) => {
      const own = required(identity);
      const sessions = [...(await host.sessions(own.account))].sort((a, b) => b.lastUsedAt - a.lastUsedAt);
      return { sessions: sessions.map((each) => ({ ...each, current: each.id === own.credentialId })) };
    }),
    implement(ownAccountApi.endSession, async ({ identity, params }) => {
      await host.endSession(byPerson(identity).account, params['id'] ?? '');
      return done;
    }),
    implement(ownAccountApi.endOtherSessions, async ({ identity }) => {
      const own = byPerson(identity);
      const others = (await host.sessions(own.account)).filter(({ id }) => id !== own.credentialId);
      for (const { id } of others) await host.endSession(own.account, id);
      return { ended: others.length };
    }),
    implement(ownAccountApi.createToken, async ({ identity, body }) =>
      accounts.createToken(byPerson(identity).account, body),
    ),
    implement(ownAccountApi.removeToken, async ({ identity, params }) => {
      await accounts.removeToken(required(identity).account, params['id'] ?? '');
      return done;
    }),
  ];
}

async function provePassword(accounts: Accounts, name: string, password: string, remoteAddress: string): Promise<void> {
  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  try {
    const proven = await accounts.authenticate({ authorization, remoteAddress });
    // A token stands in for a password elsewhere, not here.
    if (proven?.via === 'password' && proven.account === name) return;
  } catch (error) {
    // The password is right, and the account has a second factor.
    if (error instanceof Problem && error.code === 'accounts.token_needed') return;
    if (!(error instanceof Problem) || error.code !== 'accounts.bad_credentials') throw error;
  }
  const message = 'This is not your password.';
  throw new Problem('accounts.wrong_password', 403, message, { fields: { current: message } });
}

/** A token that leaked must not make others that outlive it. */
function byPerson(identity: Identity | undefined): Identity {
  const known = required(identity);
  if (known.via !== 'token') return known;
  throw new Problem('accounts.person_needed', 403, 'Sign in with the password for this; a token is not enough.');
}

function required(identity: Identity | undefined): Identity {
  if (!identity) throw new Problem('accounts.sign_in', 401, 'Sign in first.');
  return identity;
}
