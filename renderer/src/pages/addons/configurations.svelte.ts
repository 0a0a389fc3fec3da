import { addonsApi, type AddonProfile } from '../../../../services/contracts/addons/api.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import { call } from '../../api/call.ts';
import { pathOf } from '../../state/page-path.ts';
import { Loaded } from '../../state/loadable.svelte.ts';
import { place } from '../../state/router.svelte.ts';
import { toasts } from '../../state/toasts.svelte.ts';
import { newConfig } from './draft.ts';

/** The configurations, and how there come to be more of them. */
class Configurations extends Loaded {
  all = $state.raw<readonly AddonProfile[]>([]);
  /** One is being made. */
  busy = $state(false);

  async load(): Promise<void> {
    await this.readingLatest(
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
      place.go(pathOf({ service: 'addons', thing: 'configurations', id: uuid }));
    } catch (error) {
      toasts.sayWhy(error);
    } finally {
      this.busy = false;
    }
  }

  async duplicate({ uuid, name }: AddonProfile): Promise<void> {
    try {
      const { config } = await call(addonsApi.profile, { params: { uuid } });
      await this.make({ ...config, addonName: `${name} (copy)` });
    } catch (error) {
      toasts.sayWhy(error);
    }
  }
}

export const configurations = new Configurations();
