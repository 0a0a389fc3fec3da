import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isLongLived } from '../../../services/kit/http/long-lived-response.ts';

/** Requests up to this duration in ms end before a restart could interrupt them. */
const shortRequestMs = 1000;

/** Running requests and connections of a listener. */
export class RunningRequests {
  readonly #startedAt = new Map<ServerResponse | Socket, number>();

  add(work: ServerResponse | Socket): void {
    this.#startedAt.set(work, performance.now());
    work.once('close', () => this.#startedAt.delete(work));
  }

  /**
   * Counts requests that started before a time (of `performance.now()`) or run longer than a short request. Live
   * streams are not counted: they end only with their clients, which reconnect.
   */
  count(begunBefore: number): number {
    const now = performance.now();
    let count = 0;
    for (const [work, startedAt] of this.#startedAt) {
      const isStream = 'req' in work && isLongLived(work);
      if (!isStream && (startedAt <= begunBefore || now - startedAt > shortRequestMs)) count += 1;
    }
    return count;
  }
}
