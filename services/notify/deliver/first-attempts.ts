import type { Clock } from '../../contracts/service.ts';

/** State of a delivery when its caller gets a response. */
export interface Outcome {
  readonly service: string;
  /**
   * `held`: waits for other deliveries or for its delivery rules; `repeated`: the same notification was sent
   * recently; `passed`: failed, so the next level of the escalation starts.
   */
  readonly state: 'done' | 'failed' | 'queued' | 'held' | 'repeated' | 'passed';
  readonly optional: boolean;
  /** Sentence without secrets. */
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
 * Lets a caller wait for the first attempt of each of its deliveries, up to a time limit. Results that are not known
 * by then remain `queued`; the outbox continues independently.
 */
export class FirstAttempts {
  readonly #clock: Clock;
  readonly #pendingCalls = new Map<string, PendingCall>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Registers a notification. Call it before the deliveries are committed, so that no fast result is missed. The
   * disposal removes the notification.
   */
  start(
    notificationId: string,
    deliveries: readonly {
      readonly id: string;
      readonly service: string;
      readonly optional: boolean;
      /** Failed predecessors, running predecessors, or delivery rules. */
      readonly waitsFor: 'nothing' | 'others' | 'turn' | 'rules';
    }[],
    limitMs: number,
  ): Disposable & { readonly settled: () => Promise<readonly Outcome[]> } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const outcomes = new Map<string, Outcome>(
      deliveries.map(({ id, service, optional, waitsFor }) => [
        id,
        {
          service,
          optional,
          state: waitsFor === 'rules' || waitsFor === 'turn' ? 'held' : 'queued',
          detail: `The ${service} notification is ${queueReasons[waitsFor]}`,
        },
      ]),
    );
    const pendingCall: PendingCall = {
      outcomes,
      // Deliveries with predecessors are not waited for: there may be many, and the destination may be slow.
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

  /** Records the result of an attempt. Only the first attempt of a delivery ends the wait. */
  report(notificationId: string, deliveryId: string, state: Outcome['state'], detail: string): void {
    const pendingCall = this.#pendingCalls.get(notificationId);
    const outcome = pendingCall?.outcomes.get(deliveryId);
    if (pendingCall === undefined || outcome === undefined) return;
    const isEscalated = outcome.state === 'passed' && state !== 'done';
    pendingCall.outcomes.set(deliveryId, { ...outcome, state: isEscalated ? 'passed' : state, detail });
    pendingCall.pendingIds.delete(deliveryId);
    if (pendingCall.pendingIds.size === 0) pendingCall.finish();
  }

  /** Lets the caller also wait for the next level of an escalation, in place of the failed deliveries. */
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
