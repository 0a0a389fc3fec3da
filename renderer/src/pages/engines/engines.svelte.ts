import { controlApi } from '../../../../services/contracts/control/api.ts';
import { engineProgress, type EngineState } from '../../../../services/contracts/control/engines.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { Loadable } from '../../state/loadable.svelte.ts';

/** External programs, kept up to date by events. */
class Engines extends Loadable {
  list = $state.raw<readonly EngineState[]>([]);

  constructor() {
    super();
    live.on(engineProgress, ({ name, work }) => {
      if (this.phase !== 'ready') return;
      if (work === null) void this.load();
      else this.list = this.list.map((each) => (each.name === name ? { ...each, work } : each));
    });
    const reload = (): void => {
      if (this.phase !== 'loading') void this.load();
    };
    live.onReset(reload);
    live.onLanguageChange([controlApi.engines], reload);
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => call(controlApi.engines),
      ({ engines }) => (this.list = engines),
    );
  }

  /**
   * Installs or updates an engine.
   * @throws Problem that says why each method was skipped.
   */
  async install(name: string): Promise<void> {
    this.#update(await call(controlApi.installEngine, { params: { name } }));
  }

  async verify(name: string): Promise<void> {
    this.#update(await call(controlApi.verifyEngine, { params: { name } }));
  }

  /**
   * Checks all engines again.
   * @throws Problem of the first one that could not be checked.
   */
  async verifyAll(): Promise<void> {
    const results = await Promise.allSettled(this.list.map(({ name }) => this.verify(name)));
    const rejected = results.find((each) => each.status === 'rejected');
    if (rejected !== undefined) throw rejected.reason;
  }

  async remove(name: string): Promise<void> {
    this.#update(await call(controlApi.removeEngine, { params: { name } }));
  }

  #update(state: EngineState): void {
    this.list = this.list.map((each) => (each.name === state.name ? state : each));
  }
}

export const engines = new Engines();
