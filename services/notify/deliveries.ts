import { z } from 'zod';
import { defineJob, type Attempt } from '../contracts/jobs.ts';
import { Problem } from '../contracts/problem.ts';
import type { Context, Counter, Histogram } from '../contracts/service.ts';
import { kinds, labelOf, parseDestination } from './destinations/catalogue.ts';
import type { AttachmentFolder } from './attachments/folder.ts';
import type { Message } from './domain/message.ts';
import type { FirstAttempts } from './first-attempts.ts';
import type { AttachmentStore } from './store/attachments.ts';
import type { NoticeStore, OpenDelivery } from './store/notices.ts';

/** One message to one destination. The secrets stay in the delivery's row. */
export const deliver = defineJob('notify.deliver', z.object({ notice: z.string(), destination: z.string() }), {
  concurrency: 16,
  timeoutMs: 60_000,
});
type Payload = z.infer<typeof deliver.schema>;

/** What the seals of destination URLs are bound to. */
export const urlPurpose = 'notify.destination';

/** Works the deliveries of the outbox: sends, notes the outcome, tells a caller that still waits. */
export class Deliveries {
  readonly #context: Context;
  readonly #notices: NoticeStore;
  readonly #firstAttempts: FirstAttempts;
  readonly #changed: () => void;
  readonly #attachments: AttachmentStore;
  readonly #folder: AttachmentFolder;
  readonly #sent: Counter;
  readonly #seconds: Histogram;
  /** Destinations whose last attempt failed and is to be repeated. */
  readonly #failing = new Set<string>();

  /** `changed` is called after each attempt whose outcome was noted. */
  constructor(
    context: Context,
    parts: {
      readonly notices: NoticeStore;
      readonly attachments: AttachmentStore;
      readonly folder: AttachmentFolder;
      readonly firstAttempts: FirstAttempts;
      readonly changed: () => void;
    },
  ) {
    this.#context = context;
    this.#changed = parts.changed;
    this.#notices = parts.notices;
    this.#attachments = parts.attachments;
    this.#folder = parts.folder;
    this.#firstAttempts = parts.firstAttempts;
    this.#sent = context.metrics.counter({
      name: 'aggregator_notifications_sent_total',
      help: 'Notifications that were delivered to a destination, or given up.',
      labels: ['scheme', 'status'],
      initial: kinds.flatMap(({ label }) => [
        { scheme: label, status: 'success' },
        { scheme: label, status: 'failure' },
      ]),
    });
    this.#seconds = context.metrics.histogram({
      name: 'aggregator_delivery_seconds',
      help: 'Time from the acceptance of a notification to its delivery at a destination.',
      labels: ['scheme'],
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300, 3600, 43_200, 86_400],
    });
  }

  /** Begins to work; the disposal stops taking new deliveries. */
  start(): Disposable {
    return this.#context.jobs.handle(deliver, (attempt) => this.#attempt(attempt), {
      onDead: (attempt, reason) => this.#giveUp(attempt, reason),
    });
  }

  /** True while deliveries to this destination wait for its recovery. */
  isFailing(destinationId: string): boolean {
    return this.#failing.has(destinationId);
  }

  /** How many destinations do not take what is sent to them. */
  get failing(): number {
    return this.#failing.size;
  }

  async #attempt({ payload, attempt, signal }: Attempt<Payload>): Promise<void> {
    const delivery = await this.#notices.open(payload.notice, payload.destination);
    // Made before a crash that came between the effect and the job's mark.
    if (delivery === undefined) return;
    const result = await this.#send(delivery, signal);
    const state = result.ok ? 'done' : result.retryable ? 'waiting' : 'dead';
    await this.#context.commit((transaction) =>
      this.#notices.note(
        transaction,
        payload.notice,
        payload.destination,
        { state, attempts: attempt, detail: result.detail },
        this.#context.clock.now(),
      ),
    );
    this.#changed();
    const outcome = result.ok ? 'done' : result.retryable ? 'queued' : 'failed';
    if (outcome === 'queued') this.#failing.add(payload.destination);
    else this.#failing.delete(payload.destination);
    const detail = outcome === 'queued' ? `${result.detail} It is queued and tried again.` : result.detail;
    this.#firstAttempts.report(payload.notice, payload.destination, outcome, detail);
    if (result.ok) {
      if (delivery.files > 0) await this.#folder.remove(await this.#attachments.release(payload.notice));
      const scheme = labelOf(delivery.service);
      this.#sent.inc({ scheme, status: 'success' });
      this.#seconds.observe(Math.max(0, this.#context.clock.now() - delivery.message.time) / 1000, { scheme });
      return;
    }
    throw new Problem('notify.not_delivered', result.status ?? 502, result.detail, {
      retryable: result.retryable,
      ...(result.retryAfterMs === undefined ? {} : { retryAfterMs: result.retryAfterMs }),
    });
  }

  async #send(delivery: OpenDelivery, signal: AbortSignal) {
    const destination = parseDestination(this.#context.vault.open(delivery.sealedUrl, urlPurpose));
    if (typeof destination === 'string') {
      return {
        ok: false as const,
        retryable: false,
        detail: `The ${delivery.service} destination is not valid: ${destination}.`,
      };
    }
    return destination.send(await this.#withFiles(delivery), this.#context, signal);
  }

  async #withFiles({ message, files }: OpenDelivery): Promise<Message> {
    if (files === 0) return message;
    const stored = await this.#attachments.of(message.id);
    return {
      ...message,
      attachments: stored.map(({ file, ...each }) => ({ ...each, read: () => this.#folder.read(file) })),
    };
  }

  async #giveUp({ payload, attempt }: Omit<Attempt<Payload>, 'signal'>, reason: string): Promise<void> {
    const { clock, commit, log } = this.#context;
    const delivery = await this.#notices.find(payload.notice, payload.destination);
    this.#failing.delete(payload.destination);
    if (delivery === undefined || delivery.state === 'done') return;
    await commit((transaction) =>
      this.#notices.note(
        transaction,
        payload.notice,
        payload.destination,
        { state: 'dead', attempts: attempt, detail: reason },
        clock.now(),
      ),
    );
    this.#changed();
    this.#firstAttempts.report(payload.notice, payload.destination, 'failed', reason);
    this.#sent.inc({ scheme: labelOf(delivery.service), status: 'failure' });
    log.warn('notification given up', { destination: delivery.shownUrl, attempts: attempt, reason });
  }
}
