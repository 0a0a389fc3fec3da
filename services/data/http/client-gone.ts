import type { IncomingMessage } from 'node:http';

/**
 * Whether a request failed because its client left before all of the request had arrived. That is no fault of the
 * service.
 */
export function isClientGone(request: IncomingMessage, error: unknown): boolean {
  const isReset = error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
  return isReset && !request.complete && (request.destroyed || request.errored !== null);
}
