/** Where something of this host answers besides the listeners of its services: a gateway's ports, the engines beside it. */
export class KnownAddresses {
  readonly #known = new Map<symbol, string>();

  /** All that are in use. */
  list(): readonly string[] {
    return [...this.#known.values()];
  }

  /** Until the disposal. */
  note(address: string): Disposable {
    const key = Symbol(address);
    this.#known.set(key, address);
    return { [Symbol.dispose]: () => void this.#known.delete(key) };
  }
}
