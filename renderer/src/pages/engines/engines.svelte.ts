import { controlApi } from '../../../../services/contracts/control/api.ts';
import { engineProgress, type EngineState } from '../../../../services/contracts/control/engines.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { Loaded } from '../../state/loaded.svelte.ts';

/** The outside programs, kept up to date by events. */
class Engines extends Loaded {
  list = $state.raw<readonly EngineState[]>([]);

  constructor() {
    super();
    live.on(engineProgress, ({ name, work }) => {
      if (this.phase !== 'ready') return;
      if (work === null) void this.load();
      else this.list = this.list.map((each) => (each.name === name ? { ...each, work } : each));
    });
    live.onReset(() => {
      if (this.phase !== 'loading') void this.load();
    });
  }

  async load(): Promise<void> {
    await this.readingLatest(
      () => call(controlApi.engines),
      ({ engines }) => (this.list = engines),
    );
  }

  /** Installs or updates. @throws Problem that says why each way was passed over. */
  async install(name: string): Promise<void> {
    this.#take(await call(controlApi.installEngine, { params: { name } }));
  }

  async verify(name: string): Promise<void> {
    this.#take(await call(controlApi.verifyEngine, { params: { name } }));
  }

  /** Looks anew for all of them. @throws Problem of the first that could not be asked. */
  async verifyAll(): Promise<void> {
    const asked = await Promise.allSettled(this.list.map(({ name }) => this.verify(name)));
    const failed = asked.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  async remove(name: string): Promise<void> {
    this.#take(await call(controlApi.removeEngine, { params: { name } }));
  }

  #take(state: EngineState): void {
    this.list = this.list.map((each) => (each.name === state.name ? state : each));
  }
}

export const engines = new Engines();
