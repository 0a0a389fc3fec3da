import { Problem } from '../../contracts/problem.ts';
import type { Identity } from '../../contracts/control/accounts.ts';
import type { Context } from '../../contracts/service.ts';
import { toText, type Proof, type Session, type SocketEvents } from './events.ts';
import { toRecord } from '../../contracts/is-record.ts';

/**
 * Returns the calls for sign-in with an account. Clients receive a session secret, or the token that they used.
 * @param welcome Sends the lists, which must precede the answer
 */
export function signInEvents(context: Context, welcome: (session: Session) => Promise<void>): SocketEvents {
  const { accounts } = context;
  const signIn = async (session: Session, identity: Identity | undefined, proof: Proof): Promise<void> => {
    if (identity === undefined || !accounts.may(identity, 'uptime', 'read', '*')) throw createCredentialsProblem();
    session.identity = identity;
    session.proof = proof;
    session.signedIn = true;
    await welcome(session);
  };
  return {
    needSetup: { needs: 'nobody', run: async () => (await accounts.list()).length === 0 },
    setup: {
      needs: 'nobody',
      run() {
        throw new Problem('uptime.setup', 403, 'Set up Homeport in a browser first.');
      },
    },
    login: {
      needs: 'nobody',
      async run(session, credentials) {
        const { username, password } = toRecord(credentials);
        const [name, secret] = [toText(username), toText(password)];
        const authorization = `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
        const identity = await translateErrors(() => accounts.authenticate({ authorization, ...toClient(session) }));
        if (identity?.via !== 'password') {
          await signIn(session, identity, { authorization: `Bearer ${secret}` });
          return { token: secret };
        }
        if (!accounts.may(identity, 'uptime', 'read', '*')) throw createCredentialsProblem();
        const { remoteAddress, userAgent } = session;
        const { secret: token } = await accounts.signIn(name, secret, { remoteAddress, userAgent });
        await signIn(session, identity, { session: token });
        return { token };
      },
    },
    loginByToken: {
      needs: 'nobody',
      async run(session, credentials) {
        const token = toText(credentials);
        const proof = token.startsWith('tk_') ? { authorization: `Bearer ${token}` } : { session: token };
        const identity = await translateErrors(
          () => accounts.authenticate({ ...proof, ...toClient(session) }),
          'authInvalidToken',
        );
        await signIn(session, identity, proof);
        return {};
      },
    },
    logout: {
      needs: 'nobody',
      run(session) {
        session.signedIn = false;
        session.identity = undefined;
        session.proof = undefined;
        return {};
      },
    },
  };
}

/** Returns true while the credentials of a client are valid and grant access. */
export async function isStillValid(context: Context, session: Session): Promise<boolean> {
  const { proof, identity } = session;
  if (proof === undefined || identity === undefined) return true;
  try {
    const current = await context.accounts.authenticate({ ...proof, ...toClient(session) });
    return current !== undefined && context.accounts.may(current, 'uptime', 'read', '*');
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return false;
  }
}

function toClient({ remoteAddress, foreignSite }: Session) {
  return { remoteAddress, isCrossSite: foreignSite };
}

/** Converts problems into the messages of Uptime Kuma. */
async function translateErrors<T>(work: () => Promise<T>, key = 'authIncorrectCreds'): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 429)
      throw new Problem('uptime.slow', 429, 'Too frequently, try again later.', { cause: error });
    throw createCredentialsProblem(key);
  }
}

/** Code of problems whose detail is a translation key of Uptime Kuma. */
export const credentialsErrorCode = 'uptime.credentials';

function createCredentialsProblem(key = 'authIncorrectCreds'): Problem {
  return new Problem(credentialsErrorCode, 401, key);
}
