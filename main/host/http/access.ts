import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PartLog } from '../log/log.ts';
import type { RequestMetrics } from '../metrics/metrics.ts';

export interface AccessOptions {
  readonly service: string;
  readonly log: PartLog;
  readonly metrics: RequestMetrics;
  readonly level: 'debug' | 'info';
}

/** nginx's number for a client that left before an answer began. */
const clientLeft = 499;

/** Counts a request and logs it once its answer has ended or its client has left. */
export function accountFor(request: IncomingMessage, response: ServerResponse, options: AccessOptions): void {
  const start = performance.now();
  const { socket } = request;
  const logged = options.log.enabled(options.level);
  const sentBefore = logged ? socket.bytesWritten : 0;
  const remote = logged ? remoteAddress(request) : '';
  response.once('close', () => {
    const ms = performance.now() - start;
    const status = response.headersSent ? response.statusCode : clientLeft;
    options.metrics.request(options.service, request.method ?? '', status, ms / 1000);
    if (!logged) return;
    options.log[options.level]('request', {
      method: request.method,
      path: loggedPath(request.url ?? ''),
      status,
      ms: Math.round(ms * 10) / 10,
      bytes: socket.bytesWritten - sentBefore,
      remote,
    });
  });
}

/** The client's address, IPv4 in its plain form. */
export function remoteAddress(request: IncomingMessage): string {
  return plainAddress(request.socket.remoteAddress);
}

/** IPv4 in its plain form. */
export function plainAddress(address = ''): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

/**
 * The path without its query. Long segments are cut short: addons carry their configuration, webhooks their token in
 * the path.
 */
export function loggedPath(url: string): string {
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  return path.replace(/[^/]{25,}/g, (segment) => `${segment.slice(0, 6)}…`).slice(0, 200);
}
