import { controlApi, settingsChanged } from '../../../services/contracts/control/api.ts';
import type { SettingsView } from '../../../services/contracts/control/settings.ts';
import { call } from '../api/call.ts';
import { live } from './live.svelte.ts';
import { Loadable } from './loadable.svelte.ts';

/** All settings with their schemas, reloaded when any client saves some. */
class Settings extends Loadable {
  view = $state.raw<SettingsView>({ sections: [], problems: [], warnings: [] });

  constructor() {
    super();
    live.on(settingsChanged, () => void this.load());
    live.onReset(() => void this.load());
    live.onLanguageChange([controlApi.settings], () => void this.load());
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => call(controlApi.settings),
      (view) => (this.view = view),
    );
  }

  /**
   * Saves settings. Returns the ids of the restarted services, and of those that restart once their transfers have
   * ended. `keepalive` completes the request after the page was closed.
   * @throws Problem with `fields` by path.
   */
  async save(
    section: string,
    patch: Readonly<Record<string, unknown>>,
    { keepalive = false } = {},
  ): Promise<{ readonly restarted: readonly string[]; readonly pending: readonly string[] }> {
    const { restarted, pending = [] } = await call(controlApi.changeSettings, {
      params: { section },
      body: { ...patch },
      keepalive,
    });
    await this.load();
    return { restarted, pending };
  }
}

export const settings = new Settings();
