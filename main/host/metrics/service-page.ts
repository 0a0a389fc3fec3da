import type { RequestListener } from 'node:http';
import { isGatewayRequest } from '../../../services/contracts/gateway.ts';
import { isSameSecret } from '../../../services/kit/same-secret.ts';
import type { HostMetrics } from './metrics.ts';

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
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (request.url !== '/metrics' || !isRead || isGatewayRequest(request)) {
      http(request, response);
      return;
    }
    if (token !== '' && !isToken(request.headers.authorization ?? '', token)) {
      response.writeHead(401, { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': 1 }).end('\n');
      return;
    }
    metrics.text(service).then(
      (text) => {
        response.writeHead(200, { 'Content-Type': contentType, 'Cache-Control': 'no-store' });
        response.end(request.method === 'HEAD' ? undefined : text);
      },
      (error: unknown) => {
        failed(error);
        response.writeHead(500).end();
      },
    );
  };
}

function isToken(authorization: string, token: string): boolean {
  const [, given = ''] = /^bearer (.*)$/i.exec(authorization) ?? [];
  return isSameSecret(given, token);
}
