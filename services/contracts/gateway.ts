import type { IncomingMessage } from 'node:http';
import type { Identity } from './control/accounts.ts';

const gatewayRequests = new WeakSet<IncomingMessage>();
const gatewayIdentities = new WeakMap<IncomingMessage, Identity>();

/**
 * Notes that a request came from outside, by a gateway that hands it to a service in the process. A gateway does so with each
 * one before the service sees it. It is no header, so no client can set it or leave it out.
 */
export function markGatewayRequest(request: IncomingMessage): void {
  gatewayRequests.add(request);
}

/** Whether a request came by a gateway: what is open to programs of this machine is not open to it. */
export function isGatewayRequest(request: IncomingMessage): boolean {
  return gatewayRequests.has(request);
}

/** Notes who a request comes from, by a gateway that has signed its sender in before it hands the request to a service. */
export function setGatewayIdentity(request: IncomingMessage, identity: Identity): void {
  gatewayIdentities.set(request, identity);
}

/** Who a gateway found to have sent a request, if it did. */
export function getGatewayIdentity(request: IncomingMessage): Identity | undefined {
  return gatewayIdentities.get(request);
}
