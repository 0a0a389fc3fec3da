import { controlApi, type ServiceState } from '../../../../services/contracts/control/api.ts';
import type { BackupAge } from '../../../../services/contracts/control/backups.ts';
import type { Machine, Pulse } from '../../../../services/contracts/control/overview.ts';
import { call } from '../../api/call.ts';
import { Loaded } from '../../state/loaded.svelte.ts';

/** Nothing tells of these numbers; they are looked at again now and then, in ms. */
const everyMs = 30_000;

/** How busy the services are, and what is left of the machine. */
class Overview extends Loaded {
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

  /** How busy it was, where it runs and was. One hour alone, or all hours alike, is no picture: its bars would say nothing. */
  pulseOf({ id, state }: ServiceState): Pulse | undefined {
    const pulse = state === 'off' ? undefined : this.pulses.get(id);
    if (pulse === undefined || pulse.hours.filter((count) => count > 0).length < 2) return undefined;
    return new Set(pulse.hours).size > 1 ? pulse : undefined;
  }

  async load(): Promise<void> {
    await this.readingLatest(
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
