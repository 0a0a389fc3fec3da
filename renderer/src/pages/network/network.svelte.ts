import { controlApi } from '../../../../services/contracts/control/api.ts';
import {
  gatewayApi,
  gatewayChanged,
  type Exposure,
  type GatewayState,
} from '../../../../services/contracts/gateway/api.ts';
import { call, sentence } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';

/** What the home network reaches, kept up to date by events. */
class Network {
  state = $state.raw<GatewayState | undefined>();
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  trouble = $state('');

  constructor() {
    live.on(gatewayChanged, () => void this.load());
    live.onReset(() => {
      if (this.phase !== 'loading') void this.load();
    });
  }

  async load(): Promise<void> {
    try {
      this.state = await call(gatewayApi.state);
      this.phase = 'ready';
    } catch (error) {
      this.trouble = sentence(error);
      if (this.phase === 'loading') this.phase = 'failed';
    }
  }

  /** @throws Problem that says why it stays as it is. */
  async share(id: string, exposure: Exposure): Promise<void> {
    const wanted = (this.state?.services ?? []).map((each) => (each.id === id ? { ...each, exposure } : each));
    const those = (kind: Exposure): string[] => wanted.filter((each) => each.exposure === kind).map((each) => each.id);
    const body = { shared: those('sign-in'), open: those('open') };
    await this.#change(body);
  }

  /** @throws Problem that says what does not fit. */
  async addOutside(name: string, address: string): Promise<void> {
    await this.#change({ outside: [...this.#outside(), `${name}=${address.trim().replace(/\/$/, '')}`] });
  }

  /** @throws Problem that says why it stays as it is. */
  async removeOutside(id: string): Promise<void> {
    await this.share(id, 'off');
    await this.#change({ outside: this.#outside().filter((text) => !text.startsWith(`${id}=`)) });
  }

  #outside(): readonly string[] {
    return (this.state?.services ?? []).flatMap(({ id, outside }) => (outside === null ? [] : [`${id}=${outside}`]));
  }

  async #change(body: Readonly<Record<string, unknown>>): Promise<void> {
    await call(controlApi.changeSettings, { params: { section: 'gateway' }, body });
    await this.load();
  }
}

export const network = new Network();
