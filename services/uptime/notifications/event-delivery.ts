import * as m from '#messages/uptime-problems';
import type { z } from 'zod';
import { notificationOffered } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Counter } from '../../contracts/metrics.ts';
import type { UptimeOptions } from '../../contracts/uptime/views.ts';
import { deliverEvent } from './event-queue.ts';

export interface EventDeliveryDependencies {
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

/** Delivers the events of `EventQueue`, and retries until that succeeds. */
export class EventDelivery {
  readonly #dependencies: EventDeliveryDependencies;

  constructor(dependencies: EventDeliveryDependencies) {
    this.#dependencies = dependencies;
  }

  handle(): Disposable {
    const { context, sent, failed, isSuppressed, notifyFollowers } = this.#dependencies;
    return context.jobs.handle(deliverEvent, async ({ payload }) => {
      const { event, monitor, hosts } = payload;
      if (monitor !== null && isSuppressed(event.kind, monitor, hosts, Date.parse(String(event['at'])))) return;
      await notifyFollowers(event);
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

  async #deliver(payload: z.infer<typeof deliverEvent.schema>): Promise<void> {
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
      const message = (): string => m.webhookFailed({ status: String(reply.status) });
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
