import { parseAddress, type Refusal } from '../domain/address.ts';
import { findRefusal } from './host-resolution.ts';

/** Decides which addresses the extractor may open. */
export type UrlPolicy = (address: string) => Promise<URL | Refusal>;

export function createUrlPolicy(settings: { readonly allowPrivateAddresses: boolean }): UrlPolicy {
  return async (address) => {
    const url = parseAddress(address);
    if ('msg' in url || settings.allowPrivateAddresses) return url;
    return (await findRefusal(url)) ?? url;
  };
}
