import type { IncomingMessage } from 'node:http';
import type { Identity } from './control/accounts.ts';

const gatewayRequests = new WeakSet<IncomingMessage>();
const gatewayIdentities = new WeakMap<IncomingMessage, Identity>();

/**
 * Marks a request that a gateway received from another computer and passes to a service in the process. The gateway
 * marks each request before the service sees it. A mark is not a header, so clients can neither set nor omit it.
 */
export function markGatewayRequest(request: IncomingMessage): void {
  gatewayRequests.add(request);
}

/**
 * Returns whether a request came through a gateway. Access that is limited to programs on this computer does not
 * apply to it.
 */
export function isGatewayRequest(request: IncomingMessage): boolean {
  return gatewayRequests.has(request);
}

/** Stores the identity that a gateway authenticated before it passes the request to a service. */
export function setGatewayIdentity(request: IncomingMessage, identity: Identity): void {
  gatewayIdentities.set(request, identity);
}

/** Returns the identity that a gateway authenticated, if any. */
export function getGatewayIdentity(request: IncomingMessage): Identity | undefined {
  return gatewayIdentities.get(request);
}
