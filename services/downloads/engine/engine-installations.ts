import { engineProgress, type EngineWork } from '../../contracts/control/engines.ts';
import type { RunningWork } from '../../contracts/health.ts';
import type { Context } from '../../contracts/service.ts';

/** Which of some engines are being installed: until it was looked again, so that none is called missing that came just now. */
export class Installing implements Disposable {
  readonly #context: Context;
  readonly #names: readonly string[];
  readonly #onEnd: () => Promise<void>;
  readonly #works = new Map<string, EngineWork>();
  #listening: Disposable | undefined;

  /** `onEnd` looks for the engines anew. */
  constructor(context: Context, names: readonly string[], onEnd: () => Promise<void>) {
    this.#context = context;
    this.#names = names;
    this.#onEnd = onEnd;
  }

  start(): void {
    const { bus, engines } = this.#context;
    for (const name of this.#names) {
      const work = engines.working(name);
      if (work !== undefined) this.#works.set(name, work);
    }
    this.#listening = bus.subscribe(engineProgress, ({ name, work }) => {
      if (!this.#names.includes(name)) return;
      if (work === null) void this.#end(name);
      else this.#works.set(name, work);
    });
  }

  has(name: string): boolean {
    return this.#works.has(name);
  }

  /** As Home shows it. */
  get running(): readonly RunningWork[] {
    return [...this.#works].map(([name, { percent }]) => ({
      ...{ title: `${name} is being installed`, to: '/settings/engines', percent },
    }));
  }

  [Symbol.dispose](): void {
    this.#listening?.[Symbol.dispose]();
  }

  async #end(name: string): Promise<void> {
    const ended = this.#works.get(name);
    try {
      await this.#onEnd();
    } catch (error) {
      this.#context.log.error('the engines could not be looked for', { error });
    } finally {
      // It may be on its way again.
      if (this.#works.get(name) === ended) this.#works.delete(name);
    }
  }
}
