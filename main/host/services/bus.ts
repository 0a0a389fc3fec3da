import { z } from 'zod';
import type { Bus, Topic } from '../../../services/contracts/bus.ts';
import type { LoopWatch } from '../runtime/loop-watch.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { runOutsideRequests } from '../../../services/kit/language.ts';

interface Subscription {
  readonly call: (event: unknown) => void;
  isDisposed: boolean;
}

interface Delivery {
  readonly topic: string;
  readonly event: unknown;
  readonly listeners: readonly Subscription[];
}

/**
 * Creates the bus of this process. An event is delivered to subscribers that were subscribed when it was published
 * and still are at delivery, outside of the request that published it. An event that violates the topic's schema throws in the publisher and is not delivered.
 */
export function createBus(log: Log, loop?: LoopWatch): Bus {
  const listeners = new Map<string, readonly Subscription[]>();
  /** Latest event of retained topics. */
  const retained = new Map<string, unknown>();
  let queue: Delivery[] = [];

  const deliver = (): void => {
    const deliveries = queue;
    queue = [];
    for (const { topic, event, listeners: subscribers } of deliveries) {
      for (const listener of subscribers) {
        if (listener.isDisposed) continue;
        try {
          if (loop === undefined) listener.call(event);
          else loop.run('host', `a listener of ${topic}`, () => listener.call(event));
        } catch (error) {
          log.error('bus subscriber failed', { topic, error });
        }
      }
    }
  };

  const enqueue = (delivery: Delivery): void => {
    // Subscribers receive events of several requests, and their work outlives these.
    if (queue.length === 0) runOutsideRequests(() => setImmediate(deliver));
    queue.push(delivery);
  };

  return {
    publish<T>(topic: Topic<T>, event: T): void {
      const checked = z.parse(topic.schema, event);
      if (topic.retained) retained.set(topic.name, checked);
      const subscribers = listeners.get(topic.name);
      if (subscribers !== undefined) enqueue({ topic: topic.name, event: checked, listeners: subscribers });
    },
    subscribe<T>(topic: Topic<T>, call: (event: T) => void): Disposable {
      const listener: Subscription = { call: call as (event: unknown) => void, isDisposed: false };
      listeners.set(topic.name, [...(listeners.get(topic.name) ?? []), listener]);
      if (retained.has(topic.name)) {
        enqueue({ topic: topic.name, event: retained.get(topic.name), listeners: [listener] });
      }
      return {
        [Symbol.dispose]() {
          listener.isDisposed = true;
          const rest = (listeners.get(topic.name) ?? []).filter((other) => other !== listener);
          if (rest.length > 0) listeners.set(topic.name, rest);
          else listeners.delete(topic.name);
        },
      };
    },
  };
}
