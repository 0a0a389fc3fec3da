import type { ApiHandler } from '../../../services/contracts/api.ts';

/** Value that is computed from the handlers of the running services, again after a service has started or stopped. */
export class CachedByHandlers<T> {
  readonly #getHandlers: () => readonly ApiHandler[];
  readonly #compute: (handlers: readonly ApiHandler[]) => T;
  #cached: { readonly handlers: readonly ApiHandler[]; readonly value: T } | undefined;

  /** @param getHandlers called for each use */
  constructor(getHandlers: () => readonly ApiHandler[], compute: (handlers: readonly ApiHandler[]) => T) {
    this.#getHandlers = getHandlers;
    this.#compute = compute;
  }

  get(): T {
    const handlers = this.#getHandlers();
    if (this.#cached === undefined || !isSame(handlers, this.#cached.handlers)) {
      this.#cached = { handlers, value: this.#compute(handlers) };
    }
    return this.#cached.value;
  }
}

function isSame(some: readonly ApiHandler[], others: readonly ApiHandler[]): boolean {
  return some.length === others.length && some.every((each, index) => each === others[index]);
}
