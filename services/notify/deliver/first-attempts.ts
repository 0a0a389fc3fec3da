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

const queueReasons = {
  nothing: 'queued; it could not be sent at once.',
  others: 'queued behind others that could not be sent yet.',
  turn: 'queued behind others that are being sent.',
  rules: 'held until its destination takes it.',
} as const;

interface PendingCall {
  readonly outcomes: Map<string, Outcome>;
  readonly pendingIds: Set<string>;
  readonly finish: () => void;
}

/**
 * Lets a caller wait for the first attempt of each delivery of its notice, not longer than a limit. What is not known
 * by then stays `queued`; the outbox goes on by itself.
 */
export class FirstAttempts {
  readonly #clock: Clock;
  readonly #pendingCalls = new Map<string, PendingCall>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call before the deliveries are committed, so that no fast one is missed. The disposal forgets the notice. */
  start(
    notificationId: string,
    deliveries: readonly {
      readonly id: string;
      readonly service: string;
      readonly optional: boolean;
      /** Others that could not be sent, others that are being sent, or its destination's rules. */
      readonly waitsFor: 'nothing' | 'others' | 'turn' | 'rules';
    }[],
    limitMs: number,
  ): Disposable & { readonly settled: () => Promise<readonly Outcome[]> } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const outcomes = new Map<string, Outcome>(
      deliveries.map(({ id, service, optional, waitsFor }) => [
        id,
        {
          ...{ service, optional, state: waitsFor === 'rules' || waitsFor === 'turn' ? 'held' : 'queued' },
          detail: `The ${service} notification is ${queueReasons[waitsFor]}`,
        },
      ]),
    );
    const pendingCall: PendingCall = {
      outcomes,
      // Behind others there is nothing to wait for: they may be many, and their destination slow.
      pendingIds: new Set(deliveries.filter(({ waitsFor }) => waitsFor === 'nothing').map(({ id }) => id)),
      finish: resolve,
    };
    if (pendingCall.pendingIds.size === 0) resolve();
    this.#pendingCalls.set(notificationId, pendingCall);
    return {
      settled: async () => {
        if (pendingCall.pendingIds.size === 0) return [...outcomes.values()];
        using _limit = this.#clock.after(limitMs, resolve);
        await promise;
        return [...outcomes.values()];
      },
      [Symbol.dispose]: () => void this.#pendingCalls.delete(notificationId),
    };
  }

  /** Tells how an attempt ended; only the first one of a delivery counts towards the waiting. */
  report(notificationId: string, deliveryId: string, state: Outcome['state'], detail: string): void {
    const pendingCall = this.#pendingCalls.get(notificationId);
    const outcome = pendingCall?.outcomes.get(deliveryId);
    if (pendingCall === undefined || outcome === undefined) return;
    const isEscalated = outcome.state === 'passed' && state !== 'done';
    pendingCall.outcomes.set(deliveryId, { ...outcome, state: isEscalated ? 'passed' : state, detail });
    pendingCall.pendingIds.delete(deliveryId);
    if (pendingCall.pendingIds.size === 0) pendingCall.finish();
  }

  /** The caller also waits for those an escalation asks next, in place of those that were asked in vain. */
  replaceWithNextLevel(
    notificationId: string,
    failedIds: readonly string[],
    next: readonly { readonly destinationId: string; readonly service: string; readonly optional: boolean }[],
  ): void {
    const pendingCall = this.#pendingCalls.get(notificationId);
    if (pendingCall === undefined) return;
    for (const id of failedIds) {
      const outcome = pendingCall.outcomes.get(id);
      if (outcome !== undefined) pendingCall.outcomes.set(id, { ...outcome, state: 'passed' });
    }
    for (const { destinationId, service, optional } of next) {
      const detail = `The ${service} notification is ${queueReasons.nothing}`;
      pendingCall.outcomes.set(destinationId, { service, optional, state: 'queued', detail });
      pendingCall.pendingIds.add(destinationId);
    }
  }
}
