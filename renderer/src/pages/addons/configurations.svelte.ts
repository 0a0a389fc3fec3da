import { addonsApi, type AddonProfile } from '../../../../services/contracts/addons/api.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import { call } from '../../api/call.ts';
import { buildPath } from '../../state/page-path.ts';
import { Loadable } from '../../state/loadable.svelte.ts';
import { router } from '../../state/router.svelte.ts';
import { toasts } from '../../state/toasts.svelte.ts';
import { newConfig } from './draft.ts';

/** The configurations, and how there come to be more of them. */
class Configurations extends Loadable {
  all = $state.raw<readonly AddonProfile[]>([]);
  /** One is being made. */
  busy = $state(false);

  async load(): Promise<void> {
    await this.readLatest(
      () => call(addonsApi.profiles).catch((error: unknown) => this.#refused(error)),
      ({ profiles }) => (this.all = profiles),
    );
  }

  /** What was read by somebody who may is not shown to who came after them. */
  #refused(error: unknown): never {
    if (error instanceof Problem && [401, 403].includes(error.status)) this.all = [];
    throw error;
  }

  /** Makes one and opens it. */
  async make(config: Readonly<Record<string, unknown>> = newConfig): Promise<void> {
    this.busy = true;
    try {
      const { uuid } = await call(addonsApi.create, { body: { config: { ...config } } });
      router.navigate(buildPath({ service: 'addons', section: 'configurations', id: uuid }));
    } catch (error) {
      toasts.showError(error);
    } finally {
      this.busy = false;
    }
  }

  async duplicate({ uuid, name }: AddonProfile): Promise<void> {
    try {
      const { config } = await call(addonsApi.profile, { params: { uuid } });
      await this.make({ ...config, addonName: `${name} (copy)` });
    } catch (error) {
      toasts.showError(error);
    }
  }
}

export const configurations = new Configurations();
