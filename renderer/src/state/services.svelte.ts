import {
  controlApi,
  serviceChanged,
  settingsChanged,
  type ServiceState,
} from '../../../services/contracts/control/api.ts';
import { call } from '../api/call.ts';
import { live } from './live.svelte.ts';
import { Loaded } from './loadable.svelte.ts';

/** All services as Home shows them, kept up to date by events. */
class Services extends Loaded {
  list = $state<ServiceState[]>([]);
  configProblems = $state<{ path: string; message: string }[]>([]);
  /** Of each reading under way: what changed meanwhile, for the answer may be older than that. */
  readonly #late = new Set<Map<string, ServiceState>>();

  constructor() {
    super();
    live.on(serviceChanged, (service) => this.take(service));
    // A problem of the settings may have come or gone.
    live.on(settingsChanged, () => void this.load());
    live.onReset(() => void this.load());
  }

  async load(): Promise<void> {
    await live.opened();
    const late = new Map<string, ServiceState>();
    this.#late.add(late);
    await this.readingLatest(
      () => call(controlApi.services),
      ({ services, configProblems }) => {
        this.list = services.map((service) => late.get(service.id) ?? service);
        this.configProblems = configProblems;
      },
    );
    this.#late.delete(late);
  }

  take(service: ServiceState): void {
    for (const late of this.#late) late.set(service.id, service);
    const index = this.list.findIndex(({ id }) => id === service.id);
    if (index >= 0) this.list[index] = service;
    else if (this.phase === 'ready') this.list.push(service);
  }

  title(id: string): string {
    return this.list.find((service) => service.id === id)?.title ?? id;
  }

  address(id: string): string | null {
    return this.list.find((service) => service.id === id)?.address ?? null;
  }

  async restart(id: string): Promise<void> {
    this.take(await call(controlApi.restart, { params: { id } }));
  }

  /** Switches a service on or off; the row says what became of it. */
  async turn(id: string, on: boolean): Promise<void> {
    await call(controlApi.changeSettings, { params: { section: id }, body: { enabled: on } });
    await this.load();
  }

  /** Moves a listener whose port is taken to another one; the host starts it there. */
  async usePort(id: string, setting: string, port: number): Promise<void> {
    await call(controlApi.changeSettings, { params: { section: id }, body: { [setting]: port } });
    await this.load();
  }
}

export const services = new Services();
