import type { ServerResponse } from 'node:http';

const endless = new WeakSet<ServerResponse>();

/** Marks a response that ends only with its client, such as a live stream: a restart of the service does not wait for it. */
export function markEndless(response: ServerResponse): void {
  endless.add(response);
}

/** Whether a response ends only with its client. */
export function isEndless(response: ServerResponse): boolean {
  return endless.has(response);
}
