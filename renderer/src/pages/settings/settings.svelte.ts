import { controlApi, settingsChanged } from '../../../../services/contracts/control/api.ts';
import type { SettingsView } from '../../../../services/contracts/control/settings.ts';
import { call, sentence } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';

/** All settings with their schemas, read anew when anyone saves some. */
class Settings {
  view = $state.raw<SettingsView>({ sections: [], problems: [], warnings: [] });
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  trouble = $state('');

  constructor() {
    live.on(settingsChanged, () => void this.load());
    live.onReset(() => void this.load());
  }

  async load(): Promise<void> {
    try {
      this.view = await call(controlApi.settings);
      this.phase = 'ready';
    } catch (error) {
      this.trouble = sentence(error);
      if (this.phase === 'loading') this.phase = 'failed';
    }
  }

  /**
   * Answers the ids of the services that were started anew. `keepalive`: also when the page goes meanwhile.
   * @throws Problem with `fields` by path.
   */
  async save(
    section: string,
    patch: Readonly<Record<string, unknown>>,
    { keepalive = false } = {},
  ): Promise<readonly string[]> {
    const { restarted } = await call(controlApi.changeSettings, { params: { section }, body: { ...patch }, keepalive });
    await this.load();
    return restarted;
  }
}

export const settings = new Settings();
