import type { Settings } from '../settings.ts';
import type { AddressPolicy, Trust } from '../upstream/address-policy.ts';
import type { ResolveAddonsOptions } from './configured-addons.ts';

/** Settings are read by getters, because they can change while the service runs. */
export function createResolveOptions(
  settings: Settings,
  addressPolicy: AddressPolicy,
  trust: () => Trust,
  createBuiltIn: ResolveAddonsOptions['createBuiltIn'],
): ResolveAddonsOptions {
  return {
    policy: addressPolicy,
    get trust() {
      return trust();
    },
    get defaultTimeoutMs() {
      return settings.timeout;
    },
    get maxAddons() {
      return settings.maxAddons;
    },
    get disableSelfScraping() {
      return settings.disableSelfScraping;
    },
    createBuiltIn,
  };
}
