import { controlApi, type ServiceState } from '../../../../services/contracts/control/api.ts';
import type { BackupAge } from '../../../../services/contracts/control/backups.ts';
import type { Machine, Pulse } from '../../../../services/contracts/control/overview.ts';
import { call } from '../../api/call.ts';
import { Loadable } from '../../state/loadable.svelte.ts';

/** Nothing tells of these numbers; they are looked at again now and then, in ms. */
const everyMs = 30_000;

/** How busy the services are, and what is left of the machine. */
class Overview extends Loadable {
  pulses = $state.raw<ReadonlyMap<string, Pulse>>(new Map());
  machine = $state.raw<Machine | null>(null);
  backup = $state.raw<BackupAge | null>(null);

  /** Keeps it up to date until the returned function is called. */
  watch(): () => void {
    void this.load();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void this.load();
    }, everyMs);
    return () => clearInterval(timer);
  }

  /** Whether there is a day to draw: on a first one, a column of empty lines would say nothing. */
  readonly #hasDay = $derived(
    [...this.pulses.values()].some(({ hours }) => hours.filter((count) => count > 0).length > 1),
  );

  /** How busy it was, where it runs: a line without a bar says that nothing was, but all hours alike are no picture. */
  pulseOf({ id, state }: ServiceState): Pulse | undefined {
    const pulse = state === 'off' ? undefined : this.pulses.get(id);
    if (pulse === undefined || !this.#hasDay) return undefined;
    return new Set(pulse.hours).size > 1 || pulse.hours[0] === 0 ? pulse : undefined;
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => call(controlApi.overview),
      ({ pulses, machine, backup }) => {
        this.pulses = new Map(pulses.map((pulse) => [pulse.service, pulse]));
        this.machine = machine;
        this.backup = backup;
      },
    );
  }
}

export const overview = new Overview();
