import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';
import { notificationOffered, NotificationType } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Counter } from '../../contracts/metrics.ts';
import type { UptimeOptions } from '../../contracts/uptime/views.ts';
import type { UptimeEvent } from './events.ts';

const seconds = 1000;

/** Delivers an event; events of one monitor are delivered in order. */
const deliver = defineJob(
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

export interface NotifierDependencies {
  readonly context: Pick<Context, 'jobs' | 'handovers' | 'fetch' | 'log' | 'appPages'>;
  readonly options: () => UptimeOptions;
  /** Returns the Delivery URLs of a monitor. */
  readonly urlsFor: (monitor: number) => readonly string[];
  readonly sent: Counter;
  readonly failed: Counter;
  /** Notifies the followers of status pages; idempotent. */
  readonly notifyFollowers: (
    event: Readonly<Record<string, unknown>> & { readonly id: string; readonly kind: string },
  ) => Promise<void>;
  /** Returns true when the event is suppressed in favor of another monitor. */
  readonly isSuppressed: (kind: string, monitor: number, hosts: readonly number[], at: number) => boolean;
}

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

/** Delivers events reliably: they are stored with their cause and handed over until that succeeds. */
export class Notifier {
  readonly #dependencies: NotifierDependencies;

  constructor(dependencies: NotifierDependencies) {
    this.#dependencies = dependencies;
  }

  /** Enqueues an event within the transaction of its cause. */
  async enqueue(
    transaction: Kysely<any>,
    event: UptimeEvent,
    { monitor, order, tag, hosts = [], notBefore }: EnqueueOptions,
  ): Promise<void> {
    const orderKey = order ?? (monitor === null ? undefined : `monitor:${String(monitor)}`);
    const { jobs, options } = { jobs: this.#dependencies.context.jobs, options: this.#dependencies.options() };
    await jobs.enqueue(
      transaction,
      deliver,
      { ...event, tag: tag || options.notifyTag, monitor, hosts: [...hosts] },
      {
        key: event.event.id,
        ...(orderKey === undefined ? {} : { orderKey }),
        ...(notBefore === undefined ? {} : { runAt: notBefore }),
      },
    );
  }

  handle(): Disposable {
    const { context, sent, failed, isSuppressed: isCovered, notifyFollowers: follow } = this.#dependencies;
    return context.jobs.handle(deliver, async ({ payload }) => {
      const { event, monitor, hosts } = payload;
      if (monitor !== null && isCovered(event.kind, monitor, hosts, Date.parse(String(event['at'])))) return;
      await follow(event);
      try {
        await this.#deliver(payload);
        sent.inc({ kind: event.kind });
      } catch (error) {
        // Events are dropped while Delivery is disabled.
        if (error instanceof Problem && error.code === 'handover.switched_off') return;
        failed.inc();
        throw error;
      }
    });
  }

  async #deliver(payload: z.infer<typeof deliver.schema>): Promise<void> {
    const { title, body, type, event, tag, monitor } = payload;
    const { context, options, urlsFor } = this.#dependencies;
    const urls = monitor === null ? [] : [...urlsFor(monitor)];
    if (urls.length > 0) {
      await context.handovers.pass(notificationOffered, `${event.id}:notifications`, {
        configuration: 'aggregator',
        urls,
        notice: { title, body, type, format: 'text', tags: ['uptime', `uptime.${event.kind}`], source: 'uptime' },
      });
    }
    const { notifyUrl } = options();
    if (notifyUrl !== '') {
      const text = JSON.stringify({ title, body, type, ...(tag === '' ? {} : { tag }), event });
      const headers = { 'content-type': 'application/json', 'idempotency-key': event.id };
      const reply = await context.fetch(notifyUrl, {
        method: 'POST',
        headers,
        body: text,
        trust: 'owner',
        keepMethod: true,
      });
      if (reply.status >= 200 && reply.status < 300) return;
      // Every error is retried, since the configuration of the receiver may be corrected.
      const message = `The address that events are posted to answered ${String(reply.status)}.`;
      throw new Problem('uptime.aggregator', 502, message, { retryable: true });
    }
    const page = context.appPages.forMessages();
    await context.handovers.pass(notificationOffered, event.id, {
      configuration: 'aggregator',
      ...(tag === '' ? {} : { tag }),
      notice: {
        title,
        body,
        type,
        format: 'text',
        tags: ['uptime', `uptime.${event.kind}`],
        source: 'uptime',
        ...(page === undefined ? {} : { link: `${page}/uptime${getMonitorPath(event)}` }),
      },
    });
  }
}

function getMonitorPath(event: Readonly<Record<string, unknown>>): string {
  const id = event['monitorId'];
  return typeof id === 'number' ? `/monitors/${String(id)}` : '';
}
