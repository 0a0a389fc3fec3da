import type { z } from 'zod';

/** A named kind of event. The schema is checked when an event is published. */
export interface Topic<T> {
  /** `<service>.<what happened>`, e.g. `push.published`. */
  readonly name: string;
  readonly schema: z.core.$ZodType<T>;
  /** Its events tell a state: who subscribes later gets the newest one at once. */
  readonly retained?: boolean;
}

/**
 * Events that tell what has happened. They are not durable: who must not miss one uses a job and a {@link Handover}.
 * Listeners run after the publisher's current turn, in order of publication; one that throws is logged and does not
 * disturb the others.
 */
export interface Bus {
  publish<T>(topic: Topic<T>, event: T): void;
  subscribe<T>(topic: Topic<T>, listener: (event: T) => void): Disposable;
}

export function defineTopic<T>(
  name: string,
  schema: z.core.$ZodType<T>,
  options: { readonly retained?: boolean } = {},
): Topic<T> {
  return { name, schema, ...options };
}

/**
 * A durable step from one service to another. The sender keeps a job row and calls `pass` from its handler until it
 * resolves; the receiver commits before it resolves and ignores a key it has seen, so a crash between the two repeats
 * nothing visibly.
 */
export interface Handover<T> {
  /** `<receiver>.<what is offered>`, e.g. `push.offer`. */
  readonly name: string;
  readonly schema: z.core.$ZodType<T>;
}

export interface Handovers {
  /**
   * Resolves once the receiver has committed the payload under this key.
   * @throws Problem `handover.no_receiver` (503, retryable) while the receiving service is not running.
   */
  pass<T>(handover: Handover<T>, key: string, payload: T): Promise<void>;
  /** At most one receiver per handover. */
  receive<T>(handover: Handover<T>, receiver: (payload: T, key: string) => Promise<void>): Disposable;
}

export function defineHandover<T>(name: string, schema: z.core.$ZodType<T>): Handover<T> {
  return { name, schema };
}
