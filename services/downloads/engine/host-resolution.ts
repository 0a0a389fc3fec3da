import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { internalAddress, isInternal, type Refusal } from '../domain/address.ts';

/** Refuses a host that is, or resolves to, an address of this machine or network. A name that is unknown passes: the extractor says it better. */
export async function refuseInternal(url: URL): Promise<Refusal | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return refusalOf(host, await resolveAll(host));
}

/** The address of a host that is of neither this machine nor this network. */
export async function publicAddress(host: string): Promise<string | Refusal> {
  const addresses = await resolveAll(host);
  return refusalOf(host, addresses) ?? addresses[0] ?? { msg: `Host "${host}" is not known` };
}

function refusalOf(host: string, addresses: readonly string[]): Refusal | undefined {
  const internal = addresses.find(isInternal);
  return internal === undefined ? undefined : internalAddress(internal, host);
}

async function resolveAll(host: string): Promise<readonly string[]> {
  if (isIP(host)) return [host];
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    return []; // Not found, or no resolver at the moment.
  }
}
