import type { IncomingMessage } from 'node:http';

const passed = new WeakSet<IncomingMessage>();

/**
 * Notes that a request came from outside, by a gateway that hands it to a service in the process. A gateway does so with each
 * one before the service sees it. It is no header, so no client can set it or leave it out.
 */
export function markGatewayRequest(request: IncomingMessage): void {
  passed.add(request);
}

/** Whether a request came by a gateway: what is open to programs of this machine is not open to it. */
export function isGatewayRequest(request: IncomingMessage): boolean {
  return passed.has(request);
}
