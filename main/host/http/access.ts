import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PartLog } from '../log/log.ts';
import type { RequestMetrics } from '../metrics/metrics.ts';

export interface AccessOptions {
  readonly service: string;
  readonly log: PartLog;
  readonly metrics: RequestMetrics;
  readonly level: 'debug' | 'info';
}

/** Status code of nginx for a client that disconnected before the response. */
const clientDisconnectedStatus = 499;

/** Counts and logs a request once its response has ended or its client has disconnected. */
export function recordRequest(request: IncomingMessage, response: ServerResponse, options: AccessOptions): void {
  const start = performance.now();
  const { socket } = request;
  const logged = options.log.enabled(options.level);
  const sentBefore = logged ? socket.bytesWritten : 0;
  const remote = logged ? getRemoteAddress(request) : '';
  response.once('close', () => {
    const ms = performance.now() - start;
    const status = response.headersSent ? response.statusCode : clientDisconnectedStatus;
    options.metrics.request(options.service, request.method ?? '', status, ms / 1000);
    if (!logged) return;
    options.log[options.level]('request', {
      method: request.method,
      path: toLoggedPath(request.url ?? ''),
      status,
      ms: Math.round(ms * 10) / 10,
      bytes: socket.bytesWritten - sentBefore,
      remote,
    });
  });
}

/** Returns the address of the client, with mapped IPv4 addresses as IPv4. */
export function getRemoteAddress(request: IncomingMessage): string {
  return normalizeAddress(request.socket.remoteAddress);
}

/** Converts mapped IPv4 addresses to IPv4. */
export function normalizeAddress(address = ''): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

/**
 * Returns the path without query. Long segments are truncated: addons have their configuration and webhooks their
 * token in the path.
 */
export function toLoggedPath(url: string): string {
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  return path.replace(/[^/]{25,}/g, (segment) => `${segment.slice(0, 6)}…`).slice(0, 200);
}
