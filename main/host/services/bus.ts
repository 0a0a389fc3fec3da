import { z } from 'zod';
import { eventsMissed, type Bus, type EventSource, type Topic } from '../../../services/contracts/bus.ts';
import type { Relay } from '../relay/relay.ts';
import type { LoopWatch } from '../runtime/loop-watch.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { runOutsideRequests } from '../../../services/kit/language.ts';

interface Subscription {
  readonly topic: Topic<unknown>;
  readonly call: (event: unknown) => void;
  readonly from: EventSource;
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
 * Events of shared topics are exchanged with other hosts over the relay. An event of another host that violates the
 * schema or has no subscriber is dropped, since that host may have another version.
 */
export function createBus(log: Log, loop?: LoopWatch, relay?: Pick<Relay, 'listen' | 'send'>): Bus {
  const subscriptions = new Subscriptions();
  /** Latest event of retained topics. */
  const retained = new Map<string, unknown>();
  const enqueue = createQueue(log, loop);

  const bus: Bus = {
    publish<T>(topic: Topic<T>, event: T): void {
      const checked = z.parse(topic.schema, event);
      if (topic.retained) retained.set(topic.name, checked);
      const listeners = subscriptions.find(topic.name).filter(({ from }) => from !== 'other hosts');
      if (listeners.length > 0) enqueue({ topic: topic.name, event: checked, listeners });
      if (topic.shared === true) relay?.send(topic.name, checked);
    },
    subscribe<T>(topic: Topic<T>, call: (event: T) => void, from: EventSource = 'all hosts'): Disposable {
      const listener = { topic, call: call as (event: unknown) => void, from, isDisposed: false };
      const subscription = subscriptions.add(listener);
      if (retained.has(topic.name) && from !== 'other hosts') {
        enqueue({ topic: topic.name, event: retained.get(topic.name), listeners: [listener] });
      }
      return subscription;
    },
  };

  relay?.listen({
    event(name, data) {
      const listeners = subscriptions.find(name).filter(({ from }) => from !== 'this host');
      const topic = listeners[0]?.topic;
      if (topic?.shared !== true) return;
      const read = z.safeParse(topic.schema, data);
      if (!read.success) {
        log.debug('event of another host rejected', { topic: name, error: read.error });
        return;
      }
      if (topic.retained) retained.set(name, read.data);
      enqueue({ topic: name, event: read.data, listeners });
    },
    missed: (connected) => bus.publish(eventsMissed, { connected }),
  });
  return bus;
}

/** Subscriptions by topic. Lists are replaced, so that a delivery has those of the time of its publication. */
class Subscriptions {
  readonly #byTopic = new Map<string, readonly Subscription[]>();

  find(name: string): readonly Subscription[] {
    return this.#byTopic.get(name) ?? [];
  }

  add(subscription: Subscription): Disposable {
    const { name } = subscription.topic;
    this.#byTopic.set(name, [...this.find(name), subscription]);
    return {
      [Symbol.dispose]: () => {
        subscription.isDisposed = true;
        const rest = this.find(name).filter((other) => other !== subscription);
        if (rest.length > 0) this.#byTopic.set(name, rest);
        else this.#byTopic.delete(name);
      },
    };
  }
}

/** Creates the queue of deliveries, which run in the next turn of the event loop. */
function createQueue(log: Log, loop: LoopWatch | undefined): (delivery: Delivery) => void {
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
  return (delivery) => {
    // Subscribers receive events of several requests, and their work outlives these.
    if (queue.length === 0) runOutsideRequests(() => setImmediate(deliver));
    queue.push(delivery);
  };
}
