import { downloadsApi } from '../../../../../services/contracts/downloads/api.ts';
import { downloadLimitsChanged, type DownloadLimits } from '../../../../../services/contracts/downloads/limits.ts';
import { Problem } from '../../../../../services/contracts/problem.ts';
import { call } from '../../../api/call.ts';
import { live } from '../../../state/live.svelte.ts';
import { toasts } from '../../../state/toasts.svelte.ts';

/** Speed limit and hours of downloads. */
class Limits {
  limits = $state.raw<DownloadLimits>({ speed: null, hours: [] });
  /** True while downloads may run. */
  open = $state(true);
  /** Time at which `open` changes, in ms since the epoch; `null` for never. */
  changesAt = $state<number | null>(null);
  /** True after the limits were loaded; until then they cannot be edited. */
  ready = $state(false);
  #isSubscribed = false;

  /** Loads the limits and subscribes to their changes. */
  watch(): void {
    if (!this.#isSubscribed) {
      live.on(downloadLimitsChanged, (event) => this.#apply(event));
      live.onReset(() => void this.#load());
    }
    this.#isSubscribed = true;
    void this.#load();
  }

  /** @throws Problem with `fields` such as `hours.0`. */
  async save(limits: DownloadLimits): Promise<void> {
    this.#apply(await call(downloadsApi.setLimits, { body: limits }));
  }

  async #load(): Promise<void> {
    try {
      this.#apply(await call(downloadsApi.limits));
    } catch (error) {
      // The list reports the missing permission itself.
      if (!(error instanceof Problem && error.status === 403)) toasts.showError(error);
    }
  }

  #apply({ limits, open, changesAt }: { limits: DownloadLimits; open: boolean; changesAt: number | null }): void {
    this.limits = limits;
    this.open = open;
    this.changesAt = changesAt;
    this.ready = true;
  }
}

export const downloadLimits = new Limits();
