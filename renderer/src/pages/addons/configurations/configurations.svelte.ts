import * as m from '#messages/addons';
import { addonsApi, type AddonProfile } from '../../../../../services/contracts/addons/api.ts';
import { Problem } from '../../../../../services/contracts/problem.ts';
import { call } from '../../../api/call.ts';
import { buildPath } from '../../../state/page-path.ts';
import { Loadable } from '../../../state/loadable.svelte.ts';
import { router } from '../../../state/router.svelte.ts';
import { toasts } from '../../../state/toasts.svelte.ts';
import { newConfig } from '../draft/new-config.ts';

/** Configurations of the account, with the functions that create them. */
class Configurations extends Loadable {
  all = $state.raw<readonly AddonProfile[]>([]);
  /** True while a configuration is being created. */
  busy = $state(false);

  async load(): Promise<void> {
    await this.readLatest(
      () => call(addonsApi.profiles).catch((error: unknown) => this.#clearOnRefusal(error)),
      ({ profiles }) => (this.all = profiles),
    );
  }

  /** Clears the list when the account has no access, so that rows of a former account are not visible. */
  #clearOnRefusal(error: unknown): never {
    if (error instanceof Problem && [401, 403].includes(error.status)) this.all = [];
    throw error;
  }

  /** Creates a configuration and opens it. */
  async create(config: Readonly<Record<string, unknown>> = newConfig): Promise<void> {
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

  /**
   * Creates a configuration from a template and opens it. Addons that do not answer are listed in its notes.
   * @throws Problem
   */
  async createFromTemplate(config: Readonly<Record<string, unknown>>): Promise<void> {
    this.#open(await call(addonsApi.create, { query: { import: 'yes' }, body: { config: { ...config } } }));
  }

  /** Creates a configuration from an address and opens it. @throws Problem */
  async importFrom(address: string, password: string): Promise<void> {
    this.#open(await call(addonsApi.importAddress, { body: { address, password } }));
  }

  #open({ uuid }: AddonProfile): void {
    router.navigate(buildPath({ service: 'addons', section: 'configurations', id: uuid }));
  }

  async duplicate({ uuid, name }: AddonProfile): Promise<void> {
    try {
      const { config } = await call(addonsApi.profile, { params: { uuid } });
      await this.create({ ...config, addonName: m.copyOfName({ name }) });
    } catch (error) {
      toasts.showError(error);
    }
  }
}

export const configurations = new Configurations();
