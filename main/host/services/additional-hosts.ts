import * as m from '#messages/host-problems';
import type { Hosts } from '../../../services/contracts/hosts.ts';
import { Problem } from '../../../services/contracts/problem.ts';

const hostName = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

/** Host names that a service has added; `changed` updates the guards of its listeners. */
export class AdditionalHosts implements Hosts {
  readonly #added = new Set<readonly string[]>();
  readonly #changed: () => void;
  /** Array identity changes only when names are added or removed. */
  names: readonly string[] = [];

  constructor(changed: () => void = () => undefined) {
    this.#changed = changed;
  }

  add(hosts: readonly string[]): Disposable {
    const names = hosts.map((name) => name.toLowerCase());
    const bad = names.find((name) => name.length > 253 || !hostName.test(name));
    if (bad !== undefined) throw new Problem('hosts.invalid', 422, m.hostNameInvalid({ name: bad }));
    this.#added.add(names);
    this.#renew();
    return {
      [Symbol.dispose]: () => {
        if (this.#added.delete(names)) this.#renew();
      },
    };
  }

  #renew(): void {
    this.names = [...new Set([...this.#added].flat())];
    this.#changed();
  }
}
