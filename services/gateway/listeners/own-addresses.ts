import { networkInterfaces } from 'node:os';
import type { Settings } from '../settings.ts';
import { inNetworks, lanAddresses, routedAddress } from './addresses.ts';

/** The addresses of this machine, and whose machines may come to them. */
export class OwnAddresses {
  /** Read at each use. */
  readonly #settings: Readonly<Pick<Settings, 'addresses' | 'networks'>>;
  #networks: readonly string[] = [];
  #isLetIn: (address: string) => boolean = () => false;
  #isOwn: (address: string) => boolean = () => false;
  #routed: string | undefined;

  constructor(settings: Readonly<Pick<Settings, 'addresses' | 'networks'>>) {
    this.#settings = settings;
  }

  /** Those that are shared on, the likeliest way for a phone first. */
  list(): readonly string[] {
    const { addresses } = this.#settings;
    if (addresses.length > 0) return addresses;
    return lanAddresses(networkInterfaces(), (address) => this.accepts(address), this.#routed);
  }

  /** Whether a machine of this address is let in. */
  accepts(address: string): boolean {
    const { networks } = this.#settings;
    if (networks !== this.#networks) [this.#networks, this.#isLetIn] = [networks, inNetworks(networks)];
    return this.#isLetIn(address);
  }

  /** Whether who comes from there is this machine itself, as of the last look. */
  isOwn(address: string): boolean {
    return this.#isOwn(address);
  }

  /** Looks how this machine is connected now. */
  async look(): Promise<void> {
    const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    this.#isOwn = inNetworks([...interfaces.map(({ address }) => address), ...this.#settings.addresses]);
    this.#routed = await routedAddress();
  }
}
