import { lookup } from 'node:dns/promises';
import { hostname, networkInterfaces } from 'node:os';
import { findServer, isShareOfThisComputer } from '../domain/windows-path.ts';

/**
 * Returns whether a normalized Windows path may be a share of this computer, also through another name that the network
 * has for it.
 */
export async function isOwnShare(path: string): Promise<boolean> {
  const server = findServer(path);
  if (server === undefined) return false;
  const names = getOwnNames();
  if (isShareOfThisComputer(path, names)) return true;
  const addresses = await lookup(server, { all: true }).catch(() => []);
  return addresses.some(({ address }) => isShareOfThisComputer(`//${address}/`, names));
}

/** Returns the names and addresses by which other computers may reach the shares of this one. */
function getOwnNames(): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);
  return [hostname(), ...addresses];
}
