/** Locks for locations that jobs write to. A job waits for overlapping locations of earlier jobs. */
export class LocationLocks {
  readonly #locked = new Set<readonly string[]>();
  readonly #waiting: { readonly locations: readonly string[]; readonly enter: () => void }[] = [];

  /** Waits for the locks in order of the requests. @throws the signal's reason. */
  async take(locations: readonly string[], signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const earlier = [...this.#locked, ...this.#waiting.map((each) => each.locations)];
    if (earlier.some((others) => overlap(others, locations))) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const waiting = { locations, enter: resolve };
      this.#waiting.push(waiting);
      const onAbort = (): void => {
        const index = this.#waiting.indexOf(waiting);
        if (index !== -1) this.#waiting.splice(index, 1);
        this.#admit();
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      await promise.finally(() => signal.removeEventListener('abort', onAbort));
    } else this.#locked.add(locations);
    return {
      [Symbol.dispose]: () => {
        if (this.#locked.delete(locations)) this.#admit();
      },
    };
  }

  #admit(): void {
    for (const [index, waiting] of [...this.#waiting.entries()]) {
      const earlierRequests = this.#waiting.slice(0, index).filter((each) => this.#waiting.includes(each));
      const earlier = [...this.#locked, ...earlierRequests.map((each) => each.locations)];
      if (earlier.some((locations) => overlap(locations, waiting.locations))) continue;
      this.#locked.add(waiting.locations);
      waiting.enter();
    }
    for (let index = this.#waiting.length - 1; index >= 0; index--) {
      const waiting = this.#waiting[index];
      if (waiting !== undefined && this.#locked.has(waiting.locations)) this.#waiting.splice(index, 1);
    }
  }
}

/** Returns true if a location equals or contains another one. */
function overlap(first: readonly string[], second: readonly string[]): boolean {
  return first.some((one) => second.some((other) => one.startsWith(other) || other.startsWith(one)));
}
