import * as m from '#messages/gateway-problems';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DispatchContext } from '../../contracts/dispatch.ts';
import { Problem } from '../../contracts/problem.ts';
import { getReturnPath } from '../domain/return-path.ts';
import { redirect, send, sendsForm } from '../pages/responses.ts';
import type { Gate } from './gate.ts';

interface VerifyDependencies {
  readonly context: Pick<DispatchContext, 'isFromTrustedProxy' | 'publicUrl'>;
  readonly gate: Gate;
}

/**
 * Handles forward auth requests of another proxy (Caddy `forward_auth`, Traefik ForwardAuth, nginx `auth_request`). The
 * query parameter `service` requires a grant for that service.
 * @throws Problem 401, 403, 429
 */
export async function verify(
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
  { context, gate }: VerifyDependencies,
): Promise<void> {
  const { headers } = request;
  const reportedMethod = context.isFromTrustedProxy(request) ? headers['x-forwarded-method'] : undefined;
  // A preflight has no credentials; the actual request is checked. Only the method that the proxy reports is
  // considered, because any request can contain preflight headers.
  if (
    reportedMethod === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  )
    return send(response, { status: 200, type: 'text/plain; charset=utf-8', body: '' });
  const identity = await gate.identify(request);
  if (identity === undefined) return challenge(request, response, context);
  const service = query.get('service');
  // Without a service, other programs would grant the token all permissions of the account.
  if (service === null && identity.limited === true) throw new Problem('gateway.forbidden', 403, m.tokenLimited());
  if (service !== null)
    gate.admit(identity, service, typeof reportedMethod === 'string' ? reportedMethod : request.method);
  send(response, {
    status: 200,
    type: 'text/plain; charset=utf-8',
    body: '',
    headers: { 'Remote-User': identity.account, 'Remote-Groups': identity.role },
  });
}

/**
 * Redirects to the sign-in page of the requested host when the proxy reports the page; otherwise rejects the request.
 */
function challenge(
  request: IncomingMessage,
  response: ServerResponse,
  { isFromTrustedProxy, publicUrl }: VerifyDependencies['context'],
): void {
  const { 'x-forwarded-uri': page, 'x-forwarded-method': method = 'GET', accept } = request.headers;
  const requestUrl = publicUrl(request);
  const isForm = typeof method === 'string' && sendsForm({ method, headers: request.headers });
  const isRead = method === 'GET' || method === 'HEAD';
  const isPage = isForm || (isRead && accept?.includes('text/html') === true);
  if (typeof page !== 'string' || requestUrl === undefined || !isPage || !isFromTrustedProxy(request)) {
    throw new Problem('gateway.sign_in', 401, m.signInFirst(), {
      headers: { 'WWW-Authenticate': 'Basic realm="Homeport", charset="UTF-8"' },
    });
  }
  redirect(
    response,
    isForm ? 303 : 302,
    `${requestUrl}/.homeport/sign-in?to=${encodeURIComponent(getReturnPath(page))}`,
  );
}
