import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { createInternalAddressRefusal, isInternal, type Refusal } from '../domain/address.ts';

/**
 * Refuses a host that is, or resolves to, an address of this computer or network. Unknown names are accepted: the
 * extractor reports them better.
 */
export async function findRefusal(url: URL): Promise<Refusal | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return toRefusal(host, await resolveAll(host));
}

/** Resolves a host to an address outside of this computer and network. */
export async function resolvePublicAddress(host: string): Promise<string | Refusal> {
  const addresses = await resolveAll(host);
  return toRefusal(host, addresses) ?? addresses[0] ?? { msg: `Host "${host}" is not known` };
}

function toRefusal(host: string, addresses: readonly string[]): Refusal | undefined {
  const internal = addresses.find(isInternal);
  return internal === undefined ? undefined : createInternalAddressRefusal(internal, host);
}

async function resolveAll(host: string): Promise<readonly string[]> {
  if (isIP(host)) return [host];
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    return []; // Not found, or no resolver is available.
  }
}
