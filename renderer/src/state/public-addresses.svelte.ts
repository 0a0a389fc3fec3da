import { gatewayApi, gatewayChanged } from '../../../services/contracts/gateway/api.ts';
import { call } from '../api/call.ts';
import { live } from './live.svelte.ts';
import { Loaded } from './loadable.svelte.ts';
import { services } from './services.svelte.ts';

/** True where the page is open on the machine that Homeport runs on. */
export const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);

/** Where devices of the home network reach what is shared, kept up to date by events once somebody has asked. */
class Elsewhere extends Loaded {
  /** For whom pages write addresses and commands: who reads them at another device wants those of that device. */
  device = $state<'this' | 'other'>(isHere ? 'this' : 'other');
  /** Where a device gets the certificate; null while nothing is shared or the certificate is the owner's own. */
  trustUrl = $state<string | null>(null);
  #shared = $state.raw<ReadonlyMap<string, { readonly url: string; readonly asksFirst?: boolean }>>(new Map());

  constructor() {
    super();
    live.on(gatewayChanged, () => this.#again());
    live.onReset(() => this.#again());
  }

  /** Of a service, or of a port that speaks no HTTP (`mail`, `git.ssh`); null while it is not shared. */
  address(id: string): string | null {
    return this.#shared.get(id)?.url ?? null;
  }

  /** Who sends something there signs in at the gateway first, also where the service itself would not ask. */
  asksFirst(id: string): boolean {
    return this.#shared.get(id)?.asksFirst ?? false;
  }

  /** To be called once the services are known: without the gateway nothing is shared, and nobody there to ask. */
  async load(): Promise<void> {
    const asks = services.list.some(({ id, state }) => id === 'gateway' && (state === 'up' || state === 'degraded'));
    await this.readingLatest(
      () => (asks ? call(gatewayApi.addresses) : Promise.resolve({ trustUrl: null, services: [], ports: [] })),
      ({ trustUrl, services: shared, ports }) => {
        this.trustUrl = trustUrl;
        this.#shared = new Map([...shared, ...ports].map((each) => [each.id, each]));
      },
    );
  }

  #again(): void {
    if (this.phase !== 'loading') void this.load();
  }
}

export const elsewhere = new Elsewhere();
