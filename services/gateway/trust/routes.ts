import * as m from '#messages/gateway-problems';
import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { stripPort } from '../domain/names.ts';
import { redirect, send, sendHtml } from '../pages/responses.ts';
import { gatewayPrefix } from '../domain/route.ts';
import { sendPageFile } from '../pages/page-files.ts';
import { buildProfile } from './profile.ts';
import { renderTrustPage } from './page.ts';

interface TrustDependencies {
  readonly authority: () => Promise<X509Certificate | undefined>;
  /** Returns the HTTPS port of the address of a request. */
  readonly httpsPort: (request: IncomingMessage) => number | undefined;
}

/**
 * Handles requests without TLS: instructions to trust the authority, and redirects to HTTPS. Credentials are neither
 * requested nor accepted.
 * @throws Problem 403, 404
 */
export async function handlePlainHttp(
  request: IncomingMessage,
  response: ServerResponse,
  { authority, httpsPort }: TrustDependencies,
): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const port = httpsPort(request);
  // The guard verified that this is a name or address of this computer.
  const httpsUrl = `https://${stripPort(request.headers.host ?? '')}:${String(port ?? 0)}`;
  if (isRead && path.startsWith(gatewayPrefix) && (await sendPageFile(response, path.slice(gatewayPrefix.length))))
    return;
  if (isRead && (path === '/trust' || path.startsWith('/trust/'))) {
    const certificate = await authority();
    if (certificate === undefined) throw new Problem('gateway.no_authority', 404, m.noAuthority());
    handleTrustPath(request, response, path, certificate, `${httpsUrl}/`);
    return;
  }
  if (!isRead) throw new Problem('gateway.needs_tls', 403, m.httpsNeeded());
  if (port === undefined) throw new Problem('gateway.no_route', 404, m.notFound());
  redirect(response, 308, `${httpsUrl}${request.url ?? '/'}`);
}

function handleTrustPath(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  certificate: X509Certificate,
  httpsHome: string,
): void {
  const title = /CN=(.+)/.exec(certificate.subject)?.[1] ?? 'Homeport';
  switch (path) {
    case '/trust':
      sendHtml(
        response,
        200,
        renderTrustPage({
          title,
          home: httpsHome,
          fingerprint: certificate.fingerprint256,
          userAgent: request.headers['user-agent'] ?? '',
        }),
      );
      return;
    case '/trust/homeport.crt':
      send(response, { status: 200, type: 'application/x-x509-ca-cert', body: certificate.toString() });
      return;
    case '/trust/homeport.mobileconfig':
      send(response, {
        status: 200,
        type: 'application/x-apple-aspen-config',
        body: buildProfile(certificate.raw, title),
      });
      return;
    default:
      throw new Problem('gateway.no_route', 404, m.notFound());
  }
}
