/** Locks for locations that jobs write to. A job waits for overlapping locations of earlier jobs. */
export class PlaceLocks {
  readonly #held = new Set<readonly string[]>();
  readonly #waiting: { readonly places: readonly string[]; readonly enter: () => void }[] = [];

  /** Waits for the locks in order of the requests. @throws the signal's reason. */
  async take(places: readonly string[], signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const before = [...this.#held, ...this.#waiting.map((each) => each.places)];
    if (before.some((others) => meet(others, places))) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const waiting = { places, enter: resolve };
      this.#waiting.push(waiting);
      const leave = (): void => {
        const at = this.#waiting.indexOf(waiting);
        if (at !== -1) this.#waiting.splice(at, 1);
        this.#admit();
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      await promise.finally(() => signal.removeEventListener('abort', leave));
    } else this.#held.add(places);
    return {
      [Symbol.dispose]: () => {
        if (this.#held.delete(places)) this.#admit();
      },
    };
  }

  #admit(): void {
    for (const [at, waiting] of [...this.#waiting.entries()]) {
      const ahead = this.#waiting.slice(0, at).filter((each) => this.#waiting.includes(each));
      const others = [...this.#held, ...ahead.map((each) => each.places)];
      if (others.some((places) => meet(places, waiting.places))) continue;
      this.#held.add(waiting.places);
      waiting.enter();
    }
    for (let at = this.#waiting.length - 1; at >= 0; at--) {
      const waiting = this.#waiting[at];
      if (waiting !== undefined && this.#held.has(waiting.places)) this.#waiting.splice(at, 1);
    }
  }
}

/** Returns true if a location equals or contains another one. */
function meet(some: readonly string[], others: readonly string[]): boolean {
  return some.some((one) => others.some((other) => one.startsWith(other) || other.startsWith(one)));
}
