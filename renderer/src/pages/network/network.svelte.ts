import { controlApi } from '../../../../services/contracts/control/api.ts';
import {
  gatewayApi,
  gatewayChanged,
  type Exposure,
  type GatewayState,
  type SharedService,
} from '../../../../services/contracts/gateway/api.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import { call, formatError } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';

type Body = Readonly<Record<string, unknown>>;

/** What the home network reaches, kept up to date by events. */
class Network {
  state = $state.raw<GatewayState | undefined>();
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  error = $state('');
  /** Web services of the home that are none of Homeport. */
  readonly outside = $derived(this.state?.services.filter((service) => service.outside !== null) ?? []);
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
      this.error = formatError(error);
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

  /**
   * Takes in a web service that is none of Homeport, or changes the one of an id.
   * @throws Problem that says what does not fit.
   */
  putOutside(id: string | undefined, name: string, address: string): Promise<void> {
    const line = `${name}=${address.trim().replace(/\/$/, '')}`;
    return this.#change(async ({ services }) => {
      if (name !== id && services.some((each) => each.id === name)) {
        const fault = `There is ${name} already. Choose another name.`;
        throw new Problem('network.name_taken', 422, fault, { fields: { name: fault } });
      }
      const lines = outsideOf(services);
      if (id === undefined) return { outside: [...lines, line] };
      const outside = lines.map((each) => (each.startsWith(`${id}=`) ? line : each));
      if (name === id) return { outside };
      // Who reaches it, and whether its certificate is believed, stand under its name.
      const renamed = (ids: readonly string[]): string[] => ids.map((each) => (each === id ? name : each));
      const outsideUnverified = renamed(await unverified());
      return {
        outside,
        outsideUnverified,
        shared: renamed(idsOf(services, 'sign-in')),
        open: renamed(idsOf(services, 'open')),
      };
    });
  }

  /** @throws Problem that says why it stays as it is. */
  async removeOutside(id: string): Promise<void> {
    await this.share(id, 'off');
    await this.#change(({ services }) => ({
      outside: outsideOf(services).filter((text) => !text.startsWith(`${id}=`)),
    }));
  }

  /** A setting is a whole list, so each change is made of what the one before it left. */
  #change(bodyFor: (state: GatewayState) => Body | Promise<Body>): Promise<void> {
    const change = this.#turn.then(async () => {
      const body = await bodyFor(await call(gatewayApi.state));
      await call(controlApi.changeSettings, { params: { section: 'gateway' }, body });
      await this.load();
    });
    this.#turn = Promise.allSettled([change]);
    return change;
  }
}

function shares(services: readonly SharedService[], id: string, exposure: Exposure) {
  const wanted = services.map((each) => (each.id === id ? { ...each, exposure } : each));
  return { shared: idsOf(wanted, 'sign-in'), open: idsOf(wanted, 'open') };
}

function idsOf(services: readonly SharedService[], kind: Exposure): string[] {
  return services.filter(({ exposure }) => exposure === kind).map(({ id }) => id);
}

/** Names of those whose certificate nobody vouches for. */
async function unverified(): Promise<readonly string[]> {
  const { sections } = await call(controlApi.settings);
  const fields = sections.find(({ id }) => id === 'gateway')?.fields ?? [];
  const value = fields.find(({ name }) => name === 'outsideUnverified')?.value;
  return Array.isArray(value) ? value.map(String) : [];
}

function outsideOf(services: readonly SharedService[]): readonly string[] {
  return services.flatMap(({ id, outside }) => (outside === null ? [] : [`${id}=${outside}`]));
}

export const network = new Network();
