import * as m from '#messages/downloads-texts';
import { engineProgress, type EngineWork } from '../../contracts/control/engines.ts';
import type { ServiceWork } from '../../contracts/health.ts';
import type { Context } from '../../contracts/service.ts';

/**
 * Tracks installations of engines, until the engines were checked again, so that a new engine is not reported as
 * missing.
 */
export class EngineInstallations implements Disposable {
  readonly #context: Context;
  readonly #names: readonly string[];
  readonly #onEnd: () => Promise<void>;
  readonly #installations = new Map<string, EngineWork>();
  #subscription: Disposable | undefined;

  /** @param onEnd Checks the engines again. */
  constructor(context: Context, names: readonly string[], onEnd: () => Promise<void>) {
    this.#context = context;
    this.#names = names;
    this.#onEnd = onEnd;
  }

  start(): void {
    const { bus, engines } = this.#context;
    for (const name of this.#names) {
      const work = engines.working(name);
      if (work !== undefined) this.#installations.set(name, work);
    }
    this.#subscription = bus.subscribe(engineProgress, ({ name, work }) => {
      if (!this.#names.includes(name)) return;
      if (work === null) void this.#end(name);
      else this.#installations.set(name, work);
    });
  }

  has(name: string): boolean {
    return this.#installations.has(name);
  }

  /** Running installations, as Home shows them. */
  get running(): readonly ServiceWork[] {
    return [...this.#installations].map(([name, { percent }]) => ({
      title: () => m.engineInstalling({ name }),
      to: '/settings/engines',
      percent,
    }));
  }

  [Symbol.dispose](): void {
    this.#subscription?.[Symbol.dispose]();
  }

  async #end(name: string): Promise<void> {
    const installation = this.#installations.get(name);
    try {
      await this.#onEnd();
    } catch (error) {
      this.#context.log.error('engine check failed', { error });
    } finally {
      // Another installation may have started.
      if (this.#installations.get(name) === installation) this.#installations.delete(name);
    }
  }
}
