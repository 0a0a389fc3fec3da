import { parseAddress, type Refusal } from '../domain/address.ts';
import { refuseInternal } from '../engine/host-resolution.ts';

/** Decides which addresses the extractor may be sent to. */
export type UrlPolicy = (address: string) => Promise<URL | Refusal>;

export function createUrlPolicy(settings: { readonly allowPrivateAddresses: boolean }): UrlPolicy {
  return async (address) => {
    const url = parseAddress(address);
    if ('msg' in url || settings.allowPrivateAddresses) return url;
    return (await refuseInternal(url)) ?? url;
  };
}
