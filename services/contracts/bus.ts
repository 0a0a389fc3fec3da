import { z } from 'zod';

/** Named kind of event. The schema is checked when an event is published. */
export interface Topic<T> {
  /** `<service>.<event>`, e.g. `push.published`. */
  readonly name: string;
  readonly schema: z.core.$ZodType<T>;
  /** Events describe a state: a new subscriber immediately receives the latest one. */
  readonly retained?: boolean;
  /** Events reach the subscribers of all hosts that share the database; they must be plain JSON. */
  readonly shared?: boolean;
}

/**
 * Publishes events to subscribers in this process, and those of shared topics to the other hosts as well. Events are
 * not durable: use a job and a {@link Handover} where none may be lost. Subscribers run after the publisher's current
 * turn of the event loop, in order of publication. An exception is logged and does not affect other subscribers.
 */
export interface Bus {
  publish<T>(topic: Topic<T>, event: T): void;
  /** Subscribes to the events of all hosts, or of those that `from` names. See also {@link eventsMissed}. */
  subscribe<T>(topic: Topic<T>, listener: (event: T) => void, from?: EventSource): Disposable;
}

/** Hosts whose events a subscriber receives. */
export type EventSource = 'all hosts' | 'this host' | 'other hosts';

/** Defines a topic. Subscribers of a retained topic receive the last event first. */
export function defineTopic<T>(
  name: string,
  schema: z.core.$ZodType<T>,
  options: Pick<Topic<T>, 'retained' | 'shared'> = {},
): Topic<T> {
  return { name, schema, ...options };
}

/**
 * Published on this host when events of other hosts may have been lost: what was derived from the database must be
 * read again. `connected`: later events arrive again; otherwise the event is repeated every few seconds.
 */
export const eventsMissed = defineTopic('host.events-missed', z.object({ connected: z.boolean() }));

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
