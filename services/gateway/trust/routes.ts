import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { withoutPort } from '../domain/names.ts';
import { redirect, send, sendHtml } from '../proxy/responses.ts';
import { style } from '../proxy/html.ts';
import { profileOf } from './profile.ts';
import { trustPage } from './page.ts';

interface TrustParts {
  readonly authority: () => Promise<X509Certificate | undefined>;
  /** Returns the HTTPS port of the address of a request. */
  readonly httpsPort: (request: IncomingMessage) => number | undefined;
}

/**
 * Handles requests without TLS: instructions to trust the authority, and redirects to HTTPS. Credentials are neither
 * requested nor accepted.
 * @throws Problem 403, 404
 */
export async function answerPlain(
  request: IncomingMessage,
  response: ServerResponse,
  { authority, httpsPort }: TrustParts,
): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const port = httpsPort(request);
  // The guard verified that this is a name or address of this computer.
  const secure = `https://${withoutPort(request.headers.host ?? '')}:${String(port ?? 0)}`;
  if (isRead && path === '/.homeport/style.css') {
    send(request, response, { status: 200, type: 'text/css; charset=utf-8', body: style });
    return;
  }
  if (isRead && (path === '/trust' || path.startsWith('/trust/'))) {
    const certificate = await authority();
    if (certificate === undefined)
      throw new Problem('gateway.no_authority', 404, 'This machine shows a certificate of its owner.');
    answerTrust(request, response, path, certificate, `${secure}/`);
    return;
  }
  if (!isRead) throw new Problem('gateway.needs_tls', 403, 'Use HTTPS: here nothing is taken.');
  if (port === undefined) throw new Problem('gateway.no_route', 404, 'There is nothing here.');
  redirect(response, 308, `${secure}${request.url ?? '/'}`);
}

function answerTrust(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  certificate: X509Certificate,
  home: string,
): void {
  const title = /CN=(.+)/.exec(certificate.subject)?.[1] ?? 'Homeport';
  switch (path) {
    case '/trust':
      sendHtml(
        request,
        response,
        200,
        trustPage({
          ...{ title, home, fingerprint: certificate.fingerprint256 },
          userAgent: request.headers['user-agent'] ?? '',
        }),
      );
      return;
    case '/trust/homeport.crt':
      send(request, response, { status: 200, type: 'application/x-x509-ca-cert', body: certificate.toString() });
      return;
    case '/trust/homeport.mobileconfig':
      send(request, response, {
        status: 200,
        type: 'application/x-apple-aspen-config',
        body: profileOf(certificate.raw, title),
      });
      return;
    default:
      throw new Problem('gateway.no_route', 404, 'There is nothing here.');
  }
}
