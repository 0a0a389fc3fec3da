import type { DispatchContext } from '../../contracts/dispatch.ts';

/** The host names that the gateway answers to; what stays is never without one. */
export class TakenNames implements Disposable {
  readonly #hosts: DispatchContext['hosts'];
  #now: { readonly names: string; readonly taken: Disposable } | undefined;

  constructor(hosts: DispatchContext['hosts']) {
    this.#hosts = hosts;
  }

  /** Takes these, and lets go of all others. */
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
