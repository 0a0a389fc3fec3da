import * as m from '#messages/gateway-problems';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { send } from '../pages/responses.ts';
import type { SessionCookie } from './cookie.ts';
import type { SignInRoutes } from './routes.ts';

interface AppSessionDependencies {
  readonly context: Pick<Context, 'accounts' | 'caller'>;
  readonly cookie: SessionCookie;
  readonly signIn: Pick<SignInRoutes, 'readForm'>;
}

/**
 * Moves the session of a sign-in at the identity provider from the cookie of the gateway to the app's pages, which
 * send it in a header. Only for the origin of the app: other services must not read the secret of a session.
 * @throws Problem 401, 403, 405, 429
 */
export async function moveSessionToApp(
  request: IncomingMessage,
  response: ServerResponse,
  { context, cookie, signIn }: AppSessionDependencies,
): Promise<void> {
  await signIn.readForm(request);
  const session = cookie.read(request);
  const identity =
    session === undefined
      ? undefined
      : await context.accounts.authenticate({ session, forEnrollment: true, ...context.caller(request) });
  if (identity === undefined) throw new Problem('gateway.sign_in', 401, m.signInFirst());
  send(response, {
    status: 200,
    type: 'application/json; charset=utf-8',
    body: `${JSON.stringify({ session })}\n`,
    headers: { 'Set-Cookie': cookie.clear(request) },
  });
}
