import { controlApi } from '../../../../services/contracts/control/api.ts';
import {
  gatewayApi,
  gatewayChanged,
  type Exposure,
  type GatewayState,
  type SharedService,
} from '../../../../services/contracts/gateway/api.ts';
import { call, sentence } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';

/** What the home network reaches, kept up to date by events. */
class Network {
  state = $state.raw<GatewayState | undefined>();
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  trouble = $state('');
  #turn: Promise<unknown> = Promise.resolve();

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
  share(id: string, exposure: Exposure): Promise<void> {
    return this.#change(({ services }) => shares(services, id, exposure));
  }

  /** Whether other machines reach a port that speaks no HTTP. @throws Problem that says why it stays as it is. */
  sharePort(id: string, shared: boolean): Promise<void> {
    return this.#change(({ ports }) => {
      const others = ports.filter((port) => port.shared && port.id !== id).map((port) => port.id);
      return { sharedPorts: shared ? [...others, id] : others };
    });
  }

  /** @throws Problem that says what does not fit. */
  addOutside(name: string, address: string): Promise<void> {
    const added = `${name}=${address.trim().replace(/\/$/, '')}`;
    return this.#change(({ services }) => ({ outside: [...outsideOf(services), added] }));
  }

  /** @throws Problem that says why it stays as it is. */
  async removeOutside(id: string): Promise<void> {
    await this.share(id, 'off');
    await this.#change(({ services }) => ({
      outside: outsideOf(services).filter((text) => !text.startsWith(`${id}=`)),
    }));
  }

  /** A setting is a whole list, so each change is made of what the one before it left. */
  #change(bodyFor: (state: GatewayState) => Readonly<Record<string, unknown>>): Promise<void> {
    const change = this.#turn.then(async () => {
      const body = bodyFor(await call(gatewayApi.state));
      await call(controlApi.changeSettings, { params: { section: 'gateway' }, body });
      await this.load();
    });
    this.#turn = Promise.allSettled([change]);
    return change;
  }
}

function shares(services: readonly SharedService[], id: string, exposure: Exposure) {
  const wanted = services.map((each) => (each.id === id ? { ...each, exposure } : each));
  const those = (kind: Exposure): string[] => wanted.filter((each) => each.exposure === kind).map((each) => each.id);
  return { shared: those('sign-in'), open: those('open') };
}

function outsideOf(services: readonly SharedService[]): readonly string[] {
  return services.flatMap(({ id, outside }) => (outside === null ? [] : [`${id}=${outside}`]));
}

export const network = new Network();
