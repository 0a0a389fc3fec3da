import { controlApi, type ServiceState } from '../../../../services/contracts/control/api.ts';
import type { BackupAge } from '../../../../services/contracts/control/backups.ts';
import type { HostActivityEvent, Machine, Pulse } from '../../../../services/contracts/control/overview.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { Loadable } from '../../state/loadable.svelte.ts';

/** Interval in ms at which the numbers are reloaded, because there is no event for them. */
const reloadIntervalMs = 30_000;

/** Activity and events of the services and resources of the computer. */
class Overview extends Loadable {
  pulses = $state.raw<ReadonlyMap<string, Pulse>>(new Map());
  machine = $state.raw<Machine | null>(null);
  activity = $state.raw<readonly HostActivityEvent[]>([]);
  backup = $state.raw<BackupAge | null>(null);

  /** Keeps the data up to date until the returned function is called. */
  observe(): () => void {
    void this.load();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void this.load();
    }, reloadIntervalMs);
    const unsubscribe = live.onLanguageChange([controlApi.overview], () => void this.load());
    return () => {
      clearInterval(timer);
      unsubscribe();
    };
  }

  /** True when there is activity to draw; within the first hour all charts would have a single bar. */
  readonly #hasActivity = $derived(
    [...this.pulses.values()].some(({ hours }) => hours.filter((count) => count > 0).length > 1),
  );

  /**
   * Returns the activity of a service that is on, for a chart. Equal values in all hours, such as none, are not shown.
   */
  findActivity({ id, state }: ServiceState): Pulse | undefined {
    const pulse = state === 'off' ? undefined : this.pulses.get(id);
    if (pulse === undefined || !this.#hasActivity) return undefined;
    return new Set(pulse.hours).size > 1 ? pulse : undefined;
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => call(controlApi.overview),
      ({ pulses, activity, machine, backup }) => {
        this.pulses = new Map(pulses.map((pulse) => [pulse.service, pulse]));
        this.activity = activity;
        this.machine = machine;
        this.backup = backup;
      },
    );
  }
}

export const overview = new Overview();
