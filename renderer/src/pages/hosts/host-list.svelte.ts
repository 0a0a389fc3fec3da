import { controlApi } from '../../../../services/contracts/control/api.ts';
import type { HostEntry, HostList } from '../../../../services/contracts/control/hosts.ts';
import { call } from '../../api/call.ts';
import { Loadable } from '../../state/loadable.svelte.ts';

/** Interval of reloads in ms, since hosts report every few seconds without an event. */
const reloadIntervalMs = 5000;

/** Hosts that share the database. */
export class Hosts extends Loadable {
  #answer = $state.raw<HostList>({ isShared: false, hosts: [] });
  readonly isShared = $derived(this.#answer.isShared);
  /** Running hosts are listed first. */
  readonly list = $derived(this.#answer.hosts.toSorted((a, b) => getOrder(a) - getOrder(b)));
  /** Hosts of several versions are running, as during an update. */
  readonly hasSeveralVersions = $derived(hasDifferentVersions(this.#answer.hosts));

  /** Reloads the list until the returned function is called. */
  observe(): () => void {
    void this.load();
    const reload = (): void => {
      if (document.visibilityState === 'visible') void this.load();
    };
    const timer = setInterval(reload, reloadIntervalMs);
    return () => clearInterval(timer);
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => call(controlApi.hosts),
      (answer) => (this.#answer = answer),
    );
  }
}

function getOrder({ state }: HostEntry): number {
  return state === 'offline' ? 1 : 0;
}

function hasDifferentVersions(hosts: readonly HostEntry[]): boolean {
  const [first, ...others] = hosts.filter(({ state }) => state !== 'offline');
  return others.some(({ version }) => version !== first?.version);
}
