import type { z } from 'zod';

/** Named kind of event. The schema is checked when an event is published. */
export interface Topic<T> {
  /** `<service>.<event>`, e.g. `push.published`. */
  readonly name: string;
  readonly schema: z.core.$ZodType<T>;
  /** Events describe a state: a new subscriber immediately receives the latest one. */
  readonly retained?: boolean;
}

/**
 * Publishes events to subscribers in this process. Events are not durable: use a job and a {@link Handover} where
 * none may be lost. Subscribers run after the publisher's current turn of the event loop, in order of publication. An
 * exception is logged and does not affect other subscribers.
 */
export interface Bus {
  publish<T>(topic: Topic<T>, event: T): void;
  subscribe<T>(topic: Topic<T>, listener: (event: T) => void): Disposable;
}

/** Defines a topic. Subscribers of a retained topic receive the last event first. */
export function defineTopic<T>(
  name: string,
  schema: z.core.$ZodType<T>,
  options: { readonly retained?: boolean } = {},
): Topic<T> {
  return { name, schema, ...options };
}

/**
 * Durable step from one service to another. The sender stores a job and calls `pass` from its handler until it
 * resolves. The receiver commits before it resolves and ignores known keys, so a crash in between has no visible
 * effect.
 */
export interface Handover<T> {
  /** `<receiver>.<payload>`, e.g. `push.offer`. */
  readonly name: string;
  readonly schema: z.core.$ZodType<T>;
}

/** Durable messages from one service to exactly one other. */
export interface Handovers {
  /**
   * Resolves once the receiver has committed the payload under this key.
   * @throws Problem `handover.no_receiver` (503, retryable) while the receiving service is not running.
   */
  pass<T>(handover: Handover<T>, key: string, payload: T): Promise<void>;
  /** Registers the receiver of a handover; at most one is allowed. */
  receive<T>(handover: Handover<T>, receiver: (payload: T, key: string) => Promise<void>): Disposable;
}

/** Defines a handover; sender and receiver share the returned value. */
export function defineHandover<T>(name: string, schema: z.core.$ZodType<T>): Handover<T> {
  return { name, schema };
}
