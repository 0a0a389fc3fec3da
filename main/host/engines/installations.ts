import type { Engine } from '../../../services/contracts/control/engines.ts';
import { runOutsideRequests } from '../../../services/kit/language.ts';

export interface InstallationsOptions {
  /** Installs an engine. */
  readonly install: (name: string) => Promise<Engine>;
  /** Called when an installation has ended. */
  readonly onEnd: (name: string) => void;
  /** Engines whose first search is due after the start, so that callers wait for it. */
  readonly due: readonly string[];
}

/** Running installations of engines, and searches that may start one, by name. Each runs once at a time. */
export class Installations {
  readonly #options: InstallationsOptions;
  readonly #due: ReadonlySet<string>;
  readonly #searchesStarted = Promise.withResolvers<void>();
  readonly #searches = new Map<string, Promise<void>>();
  readonly #running = new Map<string, Promise<Engine>>();

  constructor(options: InstallationsOptions) {
    this.#options = options;
    this.#due = new Set(options.due);
  }

  /** Returns the names of the engines that are being installed. */
  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Installs an engine, or joins its running installation. */
  run(name: string): Promise<Engine> {
    const running = this.#running.get(name);
    if (running !== undefined) return running;
    // Several requests can wait for an installation, which continues when their clients disconnect.
    const started = runOutsideRequests(() => this.#options.install(name)).finally(() => {
      this.#running.delete(name);
      this.#options.onEnd(name);
    });
    this.#running.set(name, started);
    return started;
  }

  /**
   * Starts a search for each engine, which may install it, or joins the one that runs. Callers that wait for an engine
   * without a search continue.
   * @param search Never rejects.
   */
  async search(names: readonly string[], search: (name: string) => Promise<void>): Promise<void> {
    const searches = names.map((name) => this.#searchOnce(name, search));
    this.#searchesStarted.resolve();
    await Promise.all(searches);
  }

  /** Resolves once neither a search nor an installation of the engine is running or due. */
  async settled(name: string): Promise<void> {
    if (this.#due.has(name)) await this.#searchesStarted.promise;
    await this.#searches.get(name);
    await this.#running.get(name)?.catch(() => undefined);
  }

  #searchOnce(name: string, search: (name: string) => Promise<void>): Promise<void> {
    const running = this.#searches.get(name);
    if (running !== undefined) return running;
    const started = runOutsideRequests(() => search(name)).finally(() => this.#searches.delete(name));
    this.#searches.set(name, started);
    return started;
  }
}
