import type { Clock } from '../../contracts/service.ts';

/** How a delivery stands when its caller is answered. */
export interface Outcome {
  readonly service: string;
  /**
   * `held`: it waits for its turn, or its destination's own rules let it wait; `repeated`: the same was sent a short while
   * ago; `passed`: it could not be sent, so the next level of the escalation is asked.
   */
  readonly state: 'done' | 'failed' | 'queued' | 'held' | 'repeated' | 'passed';
  readonly optional: boolean;
  /** A sentence without secrets. */
  readonly detail: string;
}

const waits = {
  nothing: 'queued; it could not be sent at once.',
  others: 'queued behind others that could not be sent yet.',
  turn: 'queued behind others that are being sent.',
  rules: 'held until its destination takes it.',
} as const;

interface Waiting {
  readonly outcomes: Map<string, Outcome>;
  readonly missing: Set<string>;
  readonly finish: () => void;
}

/**
 * Lets a caller wait for the first attempt of each delivery of its notice, not longer than a limit. What is not known
 * by then stays `queued`; the outbox goes on by itself.
 */
export class FirstAttempts {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call before the deliveries are committed, so that no fast one is missed. The disposal forgets the notice. */
  expect(
    noticeId: string,
    deliveries: readonly {
      readonly id: string;
      readonly service: string;
      readonly optional: boolean;
      /** Others that could not be sent, others that are being sent, or its destination's rules. */
      readonly behind: 'nothing' | 'others' | 'turn' | 'rules';
    }[],
    limitMs: number,
  ): Disposable & { readonly settled: () => Promise<readonly Outcome[]> } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const outcomes = new Map<string, Outcome>(
      deliveries.map(({ id, service, optional, behind }) => [
        id,
        {
          ...{ service, optional, state: behind === 'rules' || behind === 'turn' ? 'held' : 'queued' },
          detail: `The ${service} notification is ${waits[behind]}`,
        },
      ]),
    );
    const waiting: Waiting = {
      outcomes,
      // Behind others there is nothing to wait for: they may be many, and their destination slow.
      missing: new Set(deliveries.filter(({ behind }) => behind === 'nothing').map(({ id }) => id)),
      finish: resolve,
    };
    if (waiting.missing.size === 0) resolve();
    this.#waiting.set(noticeId, waiting);
    return {
      settled: async () => {
        if (waiting.missing.size === 0) return [...outcomes.values()];
        using _limit = this.#clock.after(limitMs, resolve);
        await promise;
        return [...outcomes.values()];
      },
      [Symbol.dispose]: () => void this.#waiting.delete(noticeId),
    };
  }

  /** Tells how an attempt ended; only the first one of a delivery counts towards the waiting. */
  report(noticeId: string, deliveryId: string, state: Outcome['state'], detail: string): void {
    const waiting = this.#waiting.get(noticeId);
    const outcome = waiting?.outcomes.get(deliveryId);
    if (waiting === undefined || outcome === undefined) return;
    const passed = outcome.state === 'passed' && state !== 'done';
    waiting.outcomes.set(deliveryId, { ...outcome, state: passed ? 'passed' : state, detail });
    waiting.missing.delete(deliveryId);
    if (waiting.missing.size === 0) waiting.finish();
  }

  /** The caller also waits for those an escalation asks next, in place of those that were asked in vain. */
  goOn(
    noticeId: string,
    asked: readonly string[],
    next: readonly { readonly destinationId: string; readonly service: string; readonly optional: boolean }[],
  ): void {
    const waiting = this.#waiting.get(noticeId);
    if (waiting === undefined) return;
    for (const id of asked) {
      const outcome = waiting.outcomes.get(id);
      if (outcome !== undefined) waiting.outcomes.set(id, { ...outcome, state: 'passed' });
    }
    for (const { destinationId, service, optional } of next) {
      const detail = `The ${service} notification is ${waits.nothing}`;
      waiting.outcomes.set(destinationId, { service, optional, state: 'queued', detail });
      waiting.missing.add(destinationId);
    }
  }
}
