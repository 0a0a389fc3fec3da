import type { Vault } from '../../contracts/service.ts';
import { joinLogin, splitLogin } from '../domain/address.ts';
import { joinQuerySecrets, splitQuerySecrets, type AddressSecrets } from '../domain/address-secrets.ts';
import type { Order } from '../domain/order.ts';

/** Sealing purpose of logins. */
export const loginPurpose = 'downloads.login';
/** Sealing purpose of query secrets. */
export const secretsPurpose = 'downloads.address';
const entryPurpose = 'downloads.entry-address';

/** Stored form of an address: the displayable address, its sealed login and the sealed secrets of its query. */
export interface SealedAddress extends Pick<Order, 'login' | 'secrets'> {
  readonly displayUrl: string;
}

/** Separates addresses from their secrets and restores them for requests. */
export class Addresses {
  readonly #vault: Vault;

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  split(address: string): SealedAddress {
    const { displayUrl: withoutLogin, login } = splitLogin(address);
    const { displayUrl, secrets } = this.#split(withoutLogin);
    return {
      displayUrl,
      login: login === null ? null : this.#vault.seal(login, loginPurpose),
      secrets: Object.keys(secrets).length === 0 ? null : this.#vault.seal(JSON.stringify(secrets), secretsPurpose),
    };
  }

  /** Returns the displayable form of an address or id; equal inputs return equal results. */
  toDisplayUrl(address: string): string {
    return this.#split(splitLogin(address).displayUrl).displayUrl;
  }

  join(displayUrl: string, { login, secrets }: Pick<Order, 'login' | 'secrets'>): string {
    const withSecrets = secrets === null ? displayUrl : joinQuerySecrets(displayUrl, this.#open(secrets));
    return login === null ? withSecrets : joinLogin(withSecrets, this.#vault.open(login, loginPurpose));
  }

  /** Seals an address with the extractor's internal data, if it contains secrets. */
  sealEntry(address: string, { login, secrets }: SealedAddress): string {
    return login === null && secrets === null ? address : this.#vault.seal(address, entryPurpose);
  }

  openEntry(stored: string): string {
    return /^https?:/.test(stored) ? stored : this.#vault.open(stored, entryPurpose);
  }

  #split(address: string): ReturnType<typeof splitQuerySecrets> {
    return splitQuerySecrets(address, (text) => this.#vault.fingerprint(text, secretsPurpose));
  }

  #open(sealed: string): AddressSecrets {
    return JSON.parse(this.#vault.open(sealed, secretsPurpose)) as AddressSecrets;
  }
}
