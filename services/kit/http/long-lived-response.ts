import type { ServerResponse } from 'node:http';

const longLivedResponses = new WeakSet<ServerResponse>();

/**
 * Marks a response that ends only with its client, such as a live stream: a restart of the service does not wait for
 * it.
 */
export function markLongLived(response: ServerResponse): void {
  longLivedResponses.add(response);
}

/** Returns whether a response ends only with its client. */
export function isLongLived(response: ServerResponse): boolean {
  return longLivedResponses.has(response);
}
