import { downloadsApi } from '../../../../services/contracts/downloads/api.ts';
import { downloadLimitsChanged, type DownloadLimits } from '../../../../services/contracts/downloads/limits.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { toasts } from '../../state/toasts.svelte.ts';

/** How fast downloads may be, and when they run. */
class Limits {
  limits = $state.raw<DownloadLimits>({ speed: null, hours: [] });
  /** Downloads may run now. */
  open = $state(true);
  /** When that changes, in ms since the epoch; null: never. */
  changesAt = $state<number | null>(null);
  /** They were read: nobody changes what was not seen. */
  ready = $state(false);
  #watched = false;

  /** Reads them, and follows them from then on. */
  watch(): void {
    if (!this.#watched) {
      live.on(downloadLimitsChanged, (now) => this.#show(now));
      live.onReset(() => void this.#load());
    }
    this.#watched = true;
    void this.#load();
  }

  /** @throws Problem with `fields` such as `hours.0`. */
  async save(limits: DownloadLimits): Promise<void> {
    this.#show(await call(downloadsApi.setLimits, { body: limits }));
  }

  async #load(): Promise<void> {
    try {
      this.#show(await call(downloadsApi.limits));
    } catch (error) {
      // The list, which may not be read either, says it in its place.
      if (!(error instanceof Problem && error.status === 403)) toasts.showError(error);
    }
  }

  #show({ limits, open, changesAt }: { limits: DownloadLimits; open: boolean; changesAt: number | null }): void {
    this.limits = limits;
    this.open = open;
    this.changesAt = changesAt;
    this.ready = true;
  }
}

export const downloadLimits = new Limits();
