import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isLongLived } from '../../../services/kit/long-lived-response.ts';

/** A request that takes no longer is over before a restart could cut it off; ms. */
const briefMs = 1000;

/** The requests and connections that a listener is busy with. */
export class Running {
  readonly #startedAt = new Map<ServerResponse | Socket, number>();

  add(work: ServerResponse | Socket): void {
    this.#startedAt.set(work, performance.now());
    work.once('close', () => this.#startedAt.delete(work));
  }

  /**
   * Counts what ends by itself and began before a time (of `performance.now()`), or takes longer than a brief request.
   * Live streams are not counted: they end only with their clients, which connect again.
   */
  count(begunBefore: number): number {
    const now = performance.now();
    let count = 0;
    for (const [work, startedAt] of this.#startedAt) {
      const isStream = 'req' in work && isLongLived(work);
      if (!isStream && (startedAt <= begunBefore || now - startedAt > briefMs)) count += 1;
    }
    return count;
  }
}
