import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import { NotificationType } from '../../contracts/notify/notification.ts';
import type { Context } from '../../contracts/service.ts';
import type { UptimeOptions } from '../../contracts/uptime/views.ts';
import type { UptimeEvent } from './events.ts';

const seconds = 1000;

/** Delivers an event; events of one monitor are delivered in order. */
export const deliverEvent = defineJob(
  'uptime.tell',
  z.object({
    title: z.string(),
    body: z.string(),
    type: NotificationType,
    event: z.looseObject({ id: z.string(), kind: z.string() }),
    tag: z.string(),
    monitor: z.int().nullable(),
    /** Dependencies whose outage can suppress the event. */
    hosts: z.array(z.int()),
  }),
  { backoffMs: [1, 2, 4, 8, 16, 32, 64, 128, 300].map((wait) => wait * seconds), concurrency: 8 },
);

export interface EnqueueOptions {
  readonly monitor: number | null;
  /** Key of events that are delivered in order; defaults to the monitor. */
  readonly order?: string;
  /** Tag of the destinations; null for the tag of the settings. */
  readonly tag: string | null;
  /** Dependencies whose outage can suppress the event. */
  readonly hosts?: readonly number[];
  /** Earliest delivery, in milliseconds since the epoch. */
  readonly notBefore?: number;
}

/** Queues events reliably: they are stored with their cause. `EventDelivery` delivers them. */
export class EventQueue {
  readonly #context: Pick<Context, 'inHostLanguage' | 'jobs'>;
  readonly #options: () => UptimeOptions;

  constructor(context: Pick<Context, 'inHostLanguage' | 'jobs'>, options: () => UptimeOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Enqueues an event within the transaction of its cause. */
  async enqueue(
    transaction: Kysely<any>,
    event: UptimeEvent,
    { monitor, order, tag, hosts = [], notBefore }: EnqueueOptions,
  ): Promise<void> {
    const orderKey = order ?? (monitor === null ? undefined : `monitor:${String(monitor)}`);
    const texts = await this.#context.inHostLanguage(() => ({ title: event.title(), body: event.body() }));
    await this.#context.jobs.enqueue(
      transaction,
      deliverEvent,
      { ...event, ...texts, tag: tag || this.#options().notifyTag, monitor, hosts: [...hosts] },
      {
        key: event.event.id,
        ...(orderKey === undefined ? {} : { orderKey }),
        ...(notBefore === undefined ? {} : { runAt: notBefore }),
      },
    );
  }
}
