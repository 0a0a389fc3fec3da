import { gatewayApi, gatewayChanged } from '../../../services/contracts/gateway/api.ts';
import { call } from '../api/call.ts';
import { live } from './live.svelte.ts';
import { Loadable } from './loadable.svelte.ts';
import { services } from './services.svelte.ts';

/** True where the page is open on the computer that runs Homeport. */
export const isHostComputer = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);

/** Addresses of shared services in the home network, kept up to date by events after the first load. */
class PublicAddresses extends Loadable {
  /** Device that pages show addresses and commands for: this computer or another device of the home network. */
  targetDevice = $state<'this' | 'other'>(isHostComputer ? 'this' : 'other');
  /**
   * Address that a device downloads the certificate from; null while nothing is shared or the certificate is not from
   * Homeport.
   */
  trustUrl = $state<string | null>(null);
  #shared = $state.raw<ReadonlyMap<string, { readonly url: string; readonly asksFirst?: boolean }>>(new Map());

  constructor() {
    super();
    live.on(gatewayChanged, () => this.#reload());
    live.onReset(() => this.#reload());
  }

  /**
   * Returns the address of a service, or of a port without HTTP such as `mail` or `git.ssh`; null while it is not
   * shared.
   */
  address(id: string): string | null {
    return this.#shared.get(id)?.url ?? null;
  }

  /** True for an address or app link of a shared service that clients reach by HTTPS with the gateway's certificate. */
  hasGatewayCertificate(address: string): boolean {
    return [...this.#shared.values()].some(
      ({ url }) => url.startsWith('https:') && address.includes(`//${new URL(url).host}`),
    );
  }

  /** True when clients must sign in at the gateway first, even where the service itself requires no sign-in. */
  requiresSignIn(id: string): boolean {
    return this.#shared.get(id)?.asksFirst ?? false;
  }

  /**
   * Must be called after the services were loaded: without a running gateway nothing is shared and there is no route
   * to call.
   */
  async load(): Promise<void> {
    const isGatewayUp = services.list.some(
      ({ id, state }) => id === 'gateway' && (state === 'up' || state === 'degraded'),
    );
    await this.readLatest(
      () => (isGatewayUp ? call(gatewayApi.addresses) : Promise.resolve({ trustUrl: null, services: [], ports: [] })),
      ({ trustUrl, services: shared, ports }) => {
        this.trustUrl = trustUrl;
        this.#shared = new Map([...shared, ...ports].map((each) => [each.id, each]));
      },
    );
  }

  #reload(): void {
    if (this.phase !== 'loading') void this.load();
  }
}

export const publicAddresses = new PublicAddresses();
