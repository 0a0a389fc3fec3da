import {
  controlApi,
  serviceChanged,
  settingsChanged,
  type ServiceState,
} from '../../../services/contracts/control/api.ts';
import { call } from '../api/call.ts';
import { live } from './live.svelte.ts';
import { Loadable } from './loadable.svelte.ts';

/** All services with their status, kept up to date by events. */
class Services extends Loadable {
  list = $state<ServiceState[]>([]);
  configProblems = $state<{ path: string; message: string }[]>([]);
  /** Changes that arrived during each running load, because its result may be older. */
  readonly #changesDuringLoad = new Set<Map<string, ServiceState>>();

  constructor() {
    super();
    live.on(serviceChanged, (service) => this.update(service));
    // A problem in the settings may have been added or resolved.
    live.on(settingsChanged, () => void this.load());
    live.onReset(() => void this.load());
    live.onLanguageChange([controlApi.services], () => void this.load());
  }

  async load(): Promise<void> {
    await live.opened();
    const changes = new Map<string, ServiceState>();
    this.#changesDuringLoad.add(changes);
    await this.readLatest(
      () => call(controlApi.services),
      ({ services, configProblems }) => {
        this.list = services.map((service) => changes.get(service.id) ?? service);
        this.configProblems = configProblems;
      },
    );
    this.#changesDuringLoad.delete(changes);
  }

  update(service: ServiceState): void {
    for (const changes of this.#changesDuringLoad) changes.set(service.id, service);
    const index = this.list.findIndex(({ id }) => id === service.id);
    if (index >= 0) this.list[index] = service;
    else if (this.phase === 'ready') this.list.push(service);
  }

  getTitle(id: string): string {
    return this.list.find((service) => service.id === id)?.title ?? id;
  }

  getAddress(id: string): string | null {
    return this.list.find((service) => service.id === id)?.address ?? null;
  }

  async restart(id: string): Promise<void> {
    this.update(await call(controlApi.restart, { params: { id } }));
  }

  /** Enables or disables a service and reloads the status. */
  async setEnabled(id: string, on: boolean): Promise<void> {
    await call(controlApi.changeSettings, { params: { section: id }, body: { enabled: on } });
    await this.load();
  }

  /** Changes the port of a listener whose port is in use; the host restarts it. */
  async usePort(id: string, setting: string, port: number): Promise<void> {
    await call(controlApi.changeSettings, { params: { section: id }, body: { [setting]: port } });
    await this.load();
  }
}

export const services = new Services();
