import type { DispatchContext } from '../../contracts/dispatch.ts';

/** Registers the host names of the gateway; unchanged names stay registered. */
export class ReservedNames implements Disposable {
  readonly #hosts: DispatchContext['hosts'];
  #current: { readonly names: string; readonly registration: Disposable } | undefined;

  constructor(hosts: DispatchContext['hosts']) {
    this.#hosts = hosts;
  }

  /** Registers these names and releases all others. */
  update(hostNames: readonly string[]): void {
    const names = hostNames.join(' ');
    if (this.#current?.names === names) return;
    const registration = this.#hosts.add(hostNames);
    this.#current?.registration[Symbol.dispose]();
    this.#current = { names, registration };
  }

  [Symbol.dispose](): void {
    this.#current?.registration[Symbol.dispose]();
  }
}
