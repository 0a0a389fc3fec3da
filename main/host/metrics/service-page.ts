import type { RequestListener } from 'node:http';
import { isGatewayRequest } from '../../../services/contracts/gateway.ts';
import { getPath } from '../../../services/kit/http/errors.ts';
import { sendReply, textReply } from '../../../services/kit/http/respond.ts';
import { Router } from '../../../services/kit/http/router.ts';
import { isSameSecret } from '../../../services/kit/same-secret.ts';
import type { HostMetrics } from './metrics.ts';

/** The path has no slash at its end, since peers can have topics and folders below it. */
const page = new Router([{ method: 'GET', path: '/metrics' }], { ignoreTrailingSlash: false });
const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Serves `GET /metrics` before a service, where scrapers of the peers expect it, without credentials like the peers:
 * the listener is on loopback and the metrics name no accounts. With a `token` it requires that one. Requests through
 * a gateway do not come from loopback and are refused.
 */
export function withMetricsPage(
  service: string,
  http: RequestListener,
  metrics: HostMetrics,
  { failed, token }: { readonly failed: (error: unknown) => void; readonly token: string },
): RequestListener {
  return (request, response) => {
    const match = page.find(request.method ?? 'GET', getPath(request));
    if (match === undefined || isGatewayRequest(request)) {
      http(request, response);
      return;
    }
    if (token !== '' && !isToken(request.headers.authorization ?? '', token)) {
      sendReply(response, textReply(401, '\n'));
      return;
    }
    metrics.text(service).then(
      (text) => sendReply(response, textReply(200, text, { 'Content-Type': contentType, 'Cache-Control': 'no-store' })),
      (error: unknown) => {
        failed(error);
        sendReply(response, { status: 500 });
      },
    );
  };
}

function isToken(authorization: string, token: string): boolean {
  const [, given = ''] = /^bearer (.*)$/i.exec(authorization) ?? [];
  return isSameSecret(given, token);
}
