import type { IncomingMessage } from 'node:http';
import type { Identity } from '../../contracts/control/accounts.ts';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import type { PushDevice } from '../../contracts/push/devices.ts';
import type { SeenDevice } from './topic-devices.ts';

const mappedIPv4Prefix = '::ffff:';

/**
 * Returns the device that sent a request; undefined for programs on the computer of Homeport. A request through the
 * gateway comes from another device, whatever its address is.
 */
export function findNetworkDevice(
  sender: { readonly request: IncomingMessage; readonly address: string; readonly identity: Identity | undefined },
  connection: PushDevice['connection'],
): SeenDevice | undefined {
  const { request, identity } = sender;
  const address = stripMappedPrefix(sender.address);
  if (isLoopback(address) && !isGatewayRequest(request)) return undefined;
  return { connection, userAgent: request.headers['user-agent'] ?? '', address, account: identity?.account ?? null };
}

/** Returns the browser that subscribed on a page of Homeport; undefined for one on the computer of Homeport. */
export function findNetworkBrowser(sender: {
  readonly address: string;
  readonly userAgent: string;
  readonly identity: Identity | undefined;
}): SeenDevice | undefined {
  const { userAgent, identity } = sender;
  const address = stripMappedPrefix(sender.address);
  if (isLoopback(address)) return undefined;
  return { connection: 'browser', userAgent, address, account: identity?.account ?? null };
}

function stripMappedPrefix(address: string): string {
  return address.startsWith(mappedIPv4Prefix) ? address.slice(mappedIPv4Prefix.length) : address;
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}
