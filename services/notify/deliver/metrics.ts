import type { Context } from '../../contracts/service.ts';
import { engineLabel, kinds, getLabel } from '../destinations/catalogue.ts';
import type { OpenDelivery } from '../store/notifications.ts';

/** Counts the results of deliveries. */
export interface NotifyMetrics {
  countDelivered(delivery: Pick<OpenDelivery, 'message' | 'service'>): void;
  countFailed(service: string): void;
}

export function createNotifyMetrics({ clock, metrics }: Pick<Context, 'clock' | 'metrics'>): NotifyMetrics {
  const outcomes = metrics.counter({
    name: 'aggregator_notifications_sent_total',
    help: 'Notifications that were delivered to a destination, or given up.',
    labels: ['scheme', 'status'],
    initial: [...kinds.map(({ label }) => label), engineLabel].flatMap((scheme) => [
      { scheme, status: 'success' },
      { scheme, status: 'failure' },
    ]),
  });
  const seconds = metrics.histogram({
    name: 'aggregator_delivery_seconds',
    help: 'Time from the acceptance of a notification to its delivery at a destination.',
    labels: ['scheme'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300, 3600, 43_200, 86_400],
  });
  return {
    countDelivered({ message, service }) {
      const scheme = getLabel(service);
      outcomes.inc({ scheme, status: 'success' });
      seconds.observe(Math.max(0, clock.now() - message.time) / 1000, { scheme });
    },
    countFailed: (service) => outcomes.inc({ scheme: getLabel(service), status: 'failure' }),
  };
}
