/** Addresses of this host in addition to the listeners of its services: ports of a gateway and of child processes. */
export class RegisteredAddresses {
  readonly #addresses = new Map<symbol, string>();

  list(): readonly string[] {
    return [...this.#addresses.values()];
  }

  /** Registers an address until the disposal. */
  add(address: string): Disposable {
    const key = Symbol(address);
    this.#addresses.set(key, address);
    return { [Symbol.dispose]: () => void this.#addresses.delete(key) };
  }
}
