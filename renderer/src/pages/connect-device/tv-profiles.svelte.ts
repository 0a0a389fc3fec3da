import { addonsApi, type AddonProfile } from '../../../../services/contracts/addons/api.ts';
import { call } from '../../api/call.ts';
import { Loadable } from '../../state/loadable.svelte.ts';

/** Interval in ms at which the players are reloaded, because there is no event for their requests. */
const reloadIntervalMs = 3000;

/** Configurations that a TV can install, with the players that used them. */
export class TvProfiles extends Loadable {
  list = $state.raw<readonly AddonProfile[]>([]);
  publicUrl = $state.raw<string | null>(null);

  /** Keeps the list up to date until the returned function is called. */
  observe(): () => void {
    void this.load();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void this.load();
    }, reloadIntervalMs);
    return () => clearInterval(timer);
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => Promise.all([call(addonsApi.profiles), call(addonsApi.kinds)]),
      ([{ profiles }, { publicUrl }]) => {
        this.list = profiles;
        this.publicUrl = publicUrl;
      },
    );
  }
}
