/** Addresses of this host besides the listeners of its services: ports of a gateway and of child processes. */
export class RegisteredAddresses {
  readonly #known = new Map<symbol, string>();

  list(): readonly string[] {
    return [...this.#known.values()];
  }

  /** Registers an address until the disposal. */
  add(address: string): Disposable {
    const key = Symbol(address);
    this.#known.set(key, address);
    return { [Symbol.dispose]: () => void this.#known.delete(key) };
  }
}
