import * as m from '#messages/control-problems';
import { ownAccountApi } from '../contracts/control/access.ts';
import type { Identity } from '../contracts/control/accounts.ts';
import type { ControlContext } from '../contracts/control/host.ts';
import { implement, type ApiHandler } from '../contracts/api.ts';
import { Problem } from '../contracts/problem.ts';
import { verifyPassword } from './verify-password.ts';

const success = { ok: true } as const;

type CurrentAccountContext = Pick<ControlContext, 'accounts' | 'clock' | 'host'>;

/** Age of a sign-in up to which it replaces the password. */
const recentSignInMs = 5 * 60_000;

/** Routes about the account of the caller, also for accounts without administrator permissions. */
export function currentAccountRoutes(context: CurrentAccountContext): readonly ApiHandler[] {
  const { accounts, host } = context;
  return [
    implement(ownAccountApi.read, async ({ identity }) => {
      const { account: name } = requireIdentity(identity);
      const account = await accounts.find(name);
      if (!account) throw new Problem('accounts.unknown', 404, m.accountMissing());
      return { account, tokens: [...(await accounts.tokens(name))] };
    }),
    implement(ownAccountApi.changePassword, async (request) => {
      const { account: name, credentialId } = requirePasswordOrSession(request.identity);
      const { body, remoteAddress, userAgent } = request;
      // An open page that was left alone must not be enough to take an account over.
      await verifyPassword(accounts, { name, password: body.current, remoteAddress, field: 'current' });
      await accounts.refuseWeakPassword(name, body.password);
      const replaced = (await host.sessions(name)).find(({ id }) => id === credentialId);
      await accounts.change(name, { password: body.password });
      const byPassword = replaced?.byPassword ?? true;
      const { secret } = await host.openSession(name, { remoteAddress, userAgent, byPassword });
      return { session: secret };
    }),
    implement(ownAccountApi.changeLanguage, async ({ identity, body }) => {
      await accounts.change(requirePasswordOrSession(identity).account, { language: body.language });
      return success;
    }),
    implement(ownAccountApi.sessions, async ({ identity }) => {
      const caller = requireIdentity(identity);
      const sessions = [...(await host.sessions(caller.account))].sort((a, b) => b.lastUsedAt - a.lastUsedAt);
      return { sessions: sessions.map((session) => ({ ...session, current: session.id === caller.credentialId })) };
    }),
    implement(ownAccountApi.endSession, async (request) => {
      const caller = requirePasswordOrSession(request.identity);
      await requireProof(context, caller, request);
      await host.endSession(caller.account, request.params['id'] ?? '');
      return success;
    }),
    implement(ownAccountApi.endOtherSessions, async (request) => {
      const caller = requirePasswordOrSession(request.identity);
      await requireProof(context, caller, request);
      const others = (await host.sessions(caller.account)).filter(({ id }) => id !== caller.credentialId);
      for (const { id } of others) await host.endSession(caller.account, id);
      return { ended: others.length };
    }),
    implement(ownAccountApi.createToken, async ({ identity, body }) =>
      accounts.createToken(requirePasswordOrSession(identity).account, body),
    ),
    implement(ownAccountApi.removeToken, async ({ identity, params }) => {
      await accounts.removeToken(requireIdentity(identity).account, params['id'] ?? '');
      return success;
    }),
  ];
}

/**
 * Requires the password again before sessions are ended, so that an open page that was left alone is not enough. A
 * recent sign-in is proof as well.
 * @throws Problem `accounts.password_needed` (403), and those of {@link verifyPassword}
 */
async function requireProof(
  { accounts, clock, host }: CurrentAccountContext,
  { account: name, via, credentialId }: Identity,
  {
    body,
    remoteAddress,
  }: { readonly body: { readonly password?: string | undefined }; readonly remoteAddress: string },
): Promise<void> {
  if (via === 'password') return;
  const { password } = body;
  if (password !== undefined) return verifyPassword(accounts, { name, password, remoteAddress, field: 'password' });
  const current = (await host.sessions(name)).find(({ id }) => id === credentialId);
  if (current !== undefined && clock.now() - current.createdAt <= recentSignInMs) return;
  const detail = m.passwordNeeded();
  throw new Problem('accounts.password_needed', 403, detail, { fields: { password: detail } });
}

/** A token that leaked must not make others that outlive it. */
function requirePasswordOrSession(identity: Identity | undefined): Identity {
  const caller = requireIdentity(identity);
  if (caller.via !== 'token') return caller;
  throw new Problem('accounts.person_needed', 403, m.sessionNeeded());
}

function requireIdentity(identity: Identity | undefined): Identity {
  if (!identity) throw new Problem('accounts.sign_in', 401, m.signInNeeded());
  return identity;
}
