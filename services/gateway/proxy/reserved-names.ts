import type { DispatchContext } from '../../contracts/dispatch.ts';

/** Registers the host names of the gateway; unchanged names stay registered. */
export class TakenNames implements Disposable {
  readonly #hosts: DispatchContext['hosts'];
  #now: { readonly names: string; readonly taken: Disposable } | undefined;

  constructor(hosts: DispatchContext['hosts']) {
    this.#hosts = hosts;
  }

  /** Registers these names and releases all others. */
  become(hostNames: readonly string[]): void {
    const names = hostNames.join(' ');
    if (this.#now?.names === names) return;
    const taken = this.#hosts.add(hostNames);
    this.#now?.taken[Symbol.dispose]();
    this.#now = { names, taken };
  }

  [Symbol.dispose](): void {
    this.#now?.taken[Symbol.dispose]();
  }
}
