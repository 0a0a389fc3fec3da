import { z } from 'zod';
import type { Bus, Topic } from '../../../services/contracts/bus.ts';
import type { LoopWatch } from '../runtime/loop-watch.ts';
import type { Log } from '../../../services/contracts/service.ts';

interface Listener {
  readonly call: (event: unknown) => void;
  gone: boolean;
}

interface Delivery {
  readonly topic: string;
  readonly event: unknown;
  readonly listeners: readonly Listener[];
}

/**
 * Topics within this process. An event reaches those who listened when it was published and still do when it is
 * delivered. What the topic's schema refuses throws at the publisher and reaches nobody.
 */
export function createBus(log: Log, loop?: LoopWatch): Bus {
  const listeners = new Map<string, readonly Listener[]>();
  /** The newest event of topics that tell a state. */
  const retained = new Map<string, unknown>();
  let queue: Delivery[] = [];

  const deliver = (): void => {
    const deliveries = queue;
    queue = [];
    for (const { topic, event, listeners: chosen } of deliveries) {
      for (const listener of chosen) {
        if (listener.gone) continue;
        try {
          if (loop === undefined) listener.call(event);
          else loop.run('host', `a listener of ${topic}`, () => listener.call(event));
        } catch (error) {
          log.error('a listener failed', { topic, error });
        }
      }
    }
  };

  const enqueue = (delivery: Delivery): void => {
    if (queue.length === 0) setImmediate(deliver);
    queue.push(delivery);
  };

  return {
    publish<T>(topic: Topic<T>, event: T): void {
      const checked = z.parse(topic.schema, event);
      if (topic.retained) retained.set(topic.name, checked);
      const chosen = listeners.get(topic.name);
      if (chosen !== undefined) enqueue({ topic: topic.name, event: checked, listeners: chosen });
    },
    subscribe<T>(topic: Topic<T>, call: (event: T) => void): Disposable {
      const listener: Listener = { call: call as (event: unknown) => void, gone: false };
      listeners.set(topic.name, [...(listeners.get(topic.name) ?? []), listener]);
      if (retained.has(topic.name)) {
        enqueue({ topic: topic.name, event: retained.get(topic.name), listeners: [listener] });
      }
      return {
        [Symbol.dispose]() {
          listener.gone = true;
          const rest = (listeners.get(topic.name) ?? []).filter((other) => other !== listener);
          if (rest.length > 0) listeners.set(topic.name, rest);
          else listeners.delete(topic.name);
        },
      };
    },
  };
}
