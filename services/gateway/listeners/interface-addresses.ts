import { networkInterfaces } from 'node:os';
import type { Settings } from '../settings.ts';
import { inNetworks, lanAddresses, routedAddress } from './addresses.ts';

/** Tracks the network addresses of this computer and the networks that are admitted. */
export class OwnAddresses {
  /** Read on each use. */
  readonly #settings: Readonly<Pick<Settings, 'addresses' | 'networks'>>;
  #networks: readonly string[] = [];
  #isLetIn: (address: string) => boolean = () => false;
  #isOwn: (address: string) => boolean = () => false;
  #routed: string | undefined;

  constructor(settings: Readonly<Pick<Settings, 'addresses' | 'networks'>>) {
    this.#settings = settings;
  }

  /** Addresses to share on, ordered by how likely phones can reach them. */
  list(): readonly string[] {
    const { addresses } = this.#settings;
    if (addresses.length > 0) return addresses;
    return lanAddresses(networkInterfaces(), (address) => this.accepts(address), this.#routed);
  }

  /** Returns true for addresses of admitted networks. */
  accepts(address: string): boolean {
    const { networks } = this.#settings;
    if (networks !== this.#networks) [this.#networks, this.#isLetIn] = [networks, inNetworks(networks)];
    return this.#isLetIn(address);
  }

  /** Returns true for addresses of this computer, as of the last refresh. */
  isOwn(address: string): boolean {
    return this.#isOwn(address);
  }

  /** Refreshes the addresses of this computer. */
  async look(): Promise<void> {
    const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    this.#isOwn = inNetworks([...interfaces.map(({ address }) => address), ...this.#settings.addresses]);
    this.#routed = await routedAddress();
  }
}
