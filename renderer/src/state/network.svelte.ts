import * as m from '#messages/state';
import { controlApi } from '../../../services/contracts/control/api.ts';
import {
  gatewayApi,
  gatewayChanged,
  type Exposure,
  type GatewayState,
  type SharedService,
} from '../../../services/contracts/gateway/api.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { call } from '../api/call.ts';
import { live } from './live.svelte.ts';

type Body = Readonly<Record<string, unknown>>;

/** Shared services and ports, kept up to date by events. */
class Network {
  state = $state.raw<GatewayState | undefined>();
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  /** Error of the last failed load. */
  failure = $state.raw<unknown>();
  /** External web services. */
  readonly externalServices = $derived(this.state?.services.filter((service) => service.outside !== null) ?? []);
  #queue: Promise<unknown> = Promise.resolve();

  constructor() {
    // Pages that show what is shared have loaded it; other accounts get the event for the addresses.
    const reload = (): void => {
      if (this.phase !== 'loading') void this.load();
    };
    live.on(gatewayChanged, reload);
    live.onReset(reload);
    live.onLanguageChange([gatewayApi.state], reload);
  }

  async load(): Promise<void> {
    try {
      this.state = await call(gatewayApi.state);
      this.phase = 'ready';
    } catch (error) {
      this.failure = error;
      if (this.phase === 'loading') this.phase = 'failed';
    }
  }

  /**
   * Changes the exposure of a service.
   * @throws Problem with the reason of a failure.
   */
  share(id: string, exposure: Exposure): Promise<void> {
    return this.#change(({ services }) => buildExposureSettings(services, id, exposure));
  }

  /**
   * Shares or stops sharing a port without HTTP.
   * @throws Problem with the reason of a failure.
   */
  sharePort(id: string, shared: boolean): Promise<void> {
    return this.#change(({ ports }) => {
      const otherIds = ports.filter((port) => port.shared && port.id !== id).map((port) => port.id);
      return { sharedPorts: shared ? [...otherIds, id] : otherIds };
    });
  }

  /**
   * Adds an external service, or changes the one with an id.
   * @throws Problem for invalid input.
   */
  saveExternalService(id: string | undefined, name: string, address: string): Promise<void> {
    const line = `${name}=${address.trim().replace(/\/$/, '')}`;
    return this.#change(async ({ services }) => {
      if (name !== id && services.some((each) => each.id === name)) {
        const message = m.nameTaken({ name });
        throw new Problem('network.name_taken', 422, message, { fields: { name: message } });
      }
      const lines = toOutsideLines(services);
      if (id === undefined) return { outside: [...lines, line] };
      const outside = lines.map((each) => (each.startsWith(`${id}=`) ? line : each));
      if (name === id) return { outside };
      // Other settings refer to the name of a service and are renamed as well.
      const renameIds = (ids: readonly string[]): string[] => ids.map((each) => (each === id ? name : each));
      const renameEntries = (entries: readonly string[]): string[] =>
        entries.map((each) => (each.startsWith(`${id}=`) ? name + each.slice(id.length) : each));
      const { outsideUnverified, outsideHosts, publicPaths } = await loadReferences();
      return {
        outside,
        outsideUnverified: renameIds(outsideUnverified),
        outsideHosts: renameEntries(outsideHosts),
        publicPaths: renameEntries(publicPaths),
        shared: renameIds(getIds(services, 'sign-in')),
        open: renameIds(getIds(services, 'open')),
      };
    });
  }

  /**
   * Removes an external service.
   * @throws Problem with the reason of a failure.
   */
  async removeExternalService(id: string): Promise<void> {
    await this.share(id, 'off');
    await this.#change(({ services }) => ({
      outside: toOutsideLines(services).filter((text) => !text.startsWith(`${id}=`)),
    }));
  }

  /**
   * Changes the settings of the certificate for the owner's domain.
   * @throws Problem with the reason of a failure.
   */
  saveDomain(settings: Body): Promise<void> {
    return this.#change(() => settings);
  }

  /** Settings are saved as complete lists, so changes run one after another, each based on the current state. */
  #change(bodyFor: (state: GatewayState) => Body | Promise<Body>): Promise<void> {
    const change = this.#queue.then(async () => {
      const body = await bodyFor(await call(gatewayApi.state));
      await call(controlApi.changeSettings, { params: { section: 'gateway' }, body });
      await this.load();
    });
    this.#queue = Promise.allSettled([change]);
    return change;
  }
}

function buildExposureSettings(services: readonly SharedService[], id: string, exposure: Exposure) {
  const updated = services.map((each) => (each.id === id ? { ...each, exposure } : each));
  return { shared: getIds(updated, 'sign-in'), open: getIds(updated, 'open') };
}

function getIds(services: readonly SharedService[], kind: Exposure): string[] {
  return services.filter(({ exposure }) => exposure === kind).map(({ id }) => id);
}

/** Returns the settings that refer to external services by their names. */
async function loadReferences(): Promise<
  Readonly<Record<'outsideUnverified' | 'outsideHosts' | 'publicPaths', readonly string[]>>
> {
  const { sections } = await call(controlApi.settings);
  const fields = sections.find(({ id }) => id === 'gateway')?.fields ?? [];
  const getList = (setting: string): readonly string[] => {
    const value = fields.find(({ name }) => name === setting)?.value;
    return Array.isArray(value) ? value.map(String) : [];
  };
  return {
    outsideUnverified: getList('outsideUnverified'),
    outsideHosts: getList('outsideHosts'),
    publicPaths: getList('publicPaths'),
  };
}

function toOutsideLines(services: readonly SharedService[]): readonly string[] {
  return services.flatMap(({ id, outside }) => (outside === null ? [] : [`${id}=${outside}`]));
}

export const network = new Network();
