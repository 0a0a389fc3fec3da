import type { Counter } from '../contracts/metrics.ts';
import type { Context } from '../contracts/service.ts';

/** Registers the counter of mails by result. */
export function createMailCounter({ metrics }: Context): Counter {
  return metrics.counter({
    name: 'gateway_emails_processed_total',
    help: 'Mails that were accepted, refused for good (rejected), or turned away or lost by a fault here (failed).',
    labels: ['result'],
    initial: ['accepted', 'rejected', 'failed'].map((result) => ({ result })),
  });
}
