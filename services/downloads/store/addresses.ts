import type { Vault } from '../../contracts/service.ts';
import { joinLogin, splitLogin } from '../domain/address.ts';
import { joinSecrets, splitSecrets, type AddressSecrets } from '../domain/address-secrets.ts';
import type { Order } from '../domain/order.ts';

/** What the seals of logins are bound to. */
export const loginPurpose = 'downloads.login';
/** What the seals of the secrets of queries are bound to. */
export const secretsPurpose = 'downloads.address';
const entryPurpose = 'downloads.entry-address';

/** What an address is kept as: how it is shown, and its login and the secrets of its query, sealed. */
export interface KeptAddress extends Pick<Order, 'login' | 'secrets'> {
  readonly shown: string;
}

/** Addresses without what should not be shown, and whole again for whoever fetches what is behind them. */
export class Addresses {
  readonly #vault: Vault;

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  split(address: string): KeptAddress {
    const { shown: plain, login } = splitLogin(address);
    const { shown, secrets } = this.#split(plain);
    return {
      shown,
      login: login === null ? null : this.#vault.seal(login, loginPurpose),
      secrets: Object.keys(secrets).length === 0 ? null : this.#vault.seal(JSON.stringify(secrets), secretsPurpose),
    };
  }

  /** As an address, or the id of a download, is shown: the same each time. */
  shown(address: string): string {
    return this.#split(splitLogin(address).shown).shown;
  }

  join(shown: string, { login, secrets }: Pick<Order, 'login' | 'secrets'>): string {
    const whole = secrets === null ? shown : joinSecrets(shown, this.#open(secrets));
    return login === null ? whole : joinLogin(whole, this.#vault.open(login, loginPurpose));
  }

  /** An address that is kept with the extractor's own notes in it, beside the one that is shown. */
  keepEntry(address: string, { login, secrets }: KeptAddress): string {
    return login === null && secrets === null ? address : this.#vault.seal(address, entryPurpose);
  }

  openEntry(kept: string): string {
    return /^https?:/.test(kept) ? kept : this.#vault.open(kept, entryPurpose);
  }

  #split(address: string): ReturnType<typeof splitSecrets> {
    return splitSecrets(address, (text) => this.#vault.fingerprint(text, secretsPurpose));
  }

  #open(sealed: string): AddressSecrets {
    return JSON.parse(this.#vault.open(sealed, secretsPurpose)) as AddressSecrets;
  }
}
