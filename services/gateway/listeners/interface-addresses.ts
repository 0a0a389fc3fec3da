import { networkInterfaces } from 'node:os';
import type { Settings } from '../settings.ts';
import { createNetworkMatcher, findLanAddresses, findDefaultRouteAddress } from './addresses.ts';

/** Tracks the network addresses of this computer and the networks that are admitted. */
export class InterfaceAddresses {
  /** Read on each use. */
  readonly #settings: Readonly<Pick<Settings, 'addresses' | 'networks'>>;
  #networks: readonly string[] = [];
  #isAdmitted: (address: string) => boolean = () => false;
  #isOwn: (address: string) => boolean = () => false;
  #defaultRouteAddress: string | undefined;

  constructor(settings: Readonly<Pick<Settings, 'addresses' | 'networks'>>) {
    this.#settings = settings;
  }

  /** Addresses to share on, ordered by how likely phones can reach them. */
  list(): readonly string[] {
    const { addresses } = this.#settings;
    if (addresses.length > 0) return addresses;
    return findLanAddresses(networkInterfaces(), (address) => this.accepts(address), this.#defaultRouteAddress);
  }

  /** Returns true for addresses of admitted networks. */
  accepts(address: string): boolean {
    const { networks } = this.#settings;
    if (networks !== this.#networks) [this.#networks, this.#isAdmitted] = [networks, createNetworkMatcher(networks)];
    return this.#isAdmitted(address);
  }

  /** Returns true for addresses of this computer, as of the last refresh. */
  isOwn(address: string): boolean {
    return this.#isOwn(address);
  }

  /** Refreshes the addresses of this computer. */
  async refresh(): Promise<void> {
    const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    this.#isOwn = createNetworkMatcher([...interfaces.map(({ address }) => address), ...this.#settings.addresses]);
    this.#defaultRouteAddress = await findDefaultRouteAddress();
  }
}
