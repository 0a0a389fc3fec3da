import { z } from 'zod';
import { defineJob, type Attempt } from '../contracts/jobs.ts';
import { Problem } from '../contracts/problem.ts';
import type { Context, Counter, Histogram } from '../contracts/service.ts';
import { engineLabel, kinds, labelOf, parseDestination } from './destinations/catalogue.ts';
import type { AttachmentFolder } from './attachments/folder.ts';
import type { Result } from './destinations/destination.ts';
import { joinMessages } from './domain/digest.ts';
import type { Message } from './domain/message.ts';
import type { EngineDestinations } from './engine/destinations.ts';
import type { FirstAttempts } from './first-attempts.ts';
import type { AttachmentStore } from './store/attachments.ts';
import type { NoticeStore, OpenDelivery } from './store/notices.ts';

const payloadOf = z.object({
  notice: z.string(),
  destination: z.string(),
  /** Tried once: its caller waits, and sends again if it wants. */
  strict: z.boolean().optional(),
});

/** One message to one destination. The secrets stay in the delivery's row. */
export const deliver = defineJob('notify.deliver', payloadOf, {
  // So many destinations may take their time before one that is well has to wait for a turn.
  concurrency: 64,
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
  readonly #engine: EngineDestinations;
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
      readonly engine: EngineDestinations;
      readonly changed: () => void;
    },
  ) {
    this.#context = context;
    this.#changed = parts.changed;
    this.#notices = parts.notices;
    this.#attachments = parts.attachments;
    this.#folder = parts.folder;
    this.#engine = parts.engine;
    this.#firstAttempts = parts.firstAttempts;
    this.#sent = context.metrics.counter({
      name: 'aggregator_notifications_sent_total',
      help: 'Notifications that were delivered to a destination, or given up.',
      labels: ['scheme', 'status'],
      initial: [...kinds.map(({ label }) => label), engineLabel].flatMap((scheme) => [
        { scheme, status: 'success' },
        { scheme, status: 'failure' },
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
    // Made before a crash that came between the effect and the job's mark, or together with others of its window.
    if (delivery === undefined) return;
    const group = await this.#groupOf(payload.destination, delivery);
    const sent = await this.#send(group, signal);
    const isLast = payload.strict === true || (!sent.ok && attempt >= (sent.lastAttempt ?? Infinity));
    const result: Result = isLast && !sent.ok ? { ...sent, retryable: false } : sent;
    const state = result.ok ? 'done' : result.retryable ? 'waiting' : 'dead';
    // What was joined to this one is tried again by its own job.
    const notices = result.ok ? group.map(({ message }) => message.id) : payload.notice;
    const { clock, commit } = this.#context;
    await commit((transaction) =>
      this.#notices.note(
        transaction,
        notices,
        payload.destination,
        { state, attempts: attempt, detail: result.detail },
        clock.now(),
      ),
    );
    this.#changed();
    const outcome = result.ok ? 'done' : result.retryable ? 'queued' : 'failed';
    if (outcome === 'queued') this.#failing.add(payload.destination);
    else this.#failing.delete(payload.destination);
    const detail = outcome === 'queued' ? `${result.detail} It is queued and tried again.` : result.detail;
    this.#firstAttempts.report(payload.notice, payload.destination, outcome, detail);
    if (result.ok) return this.#count(group);
    throw new Problem('notify.not_delivered', result.status ?? 502, result.detail, {
      retryable: result.retryable,
      ...(result.retryAfterMs === undefined ? {} : { retryAfterMs: result.retryAfterMs }),
    });
  }

  /** The delivery with those that come together with it. One that was given up before comes alone. */
  async #groupOf(destination: string, delivery: OpenDelivery): Promise<readonly OpenDelivery[]> {
    if (delivery.digest === undefined) return [delivery];
    const group = await this.#notices.openDigest(destination, delivery.digest);
    return group.some(({ message }) => message.id === delivery.message.id) ? group : [delivery];
  }

  async #count(group: readonly OpenDelivery[]): Promise<void> {
    const now = this.#context.clock.now();
    for (const { files, message, service } of group) {
      if (files > 0) await this.#folder.remove(await this.#attachments.release(message.id));
      const scheme = labelOf(service);
      this.#sent.inc({ scheme, status: 'success' });
      this.#seconds.observe(Math.max(0, now - message.time) / 1000, { scheme });
    }
  }

  async #send(group: readonly OpenDelivery[], signal: AbortSignal): Promise<Result> {
    const last = group.at(-1);
    const [first] = group;
    const message = joinMessages(
      group.map((each) => each.message),
      `${first?.message.id ?? ''}:digest`,
    );
    if (last === undefined || message === undefined) return { ok: true, detail: 'There was nothing left to send.' };
    const { service, shownUrl: shown } = last;
    const destination = parseDestination(this.#context.vault.open(last.sealedUrl, urlPurpose), (url) =>
      this.#engine.open({ service, url, masked: shown, optional: false }),
    );
    if (typeof destination === 'string') {
      return {
        ok: false,
        retryable: false,
        detail: `The ${last.service} destination is not valid: ${destination}.`,
      };
    }
    const whole = group.length === 1 ? await this.#withFiles(message, last.files) : message;
    return destination.send(whole, this.#context, signal);
  }

  async #withFiles(message: Message, files: number): Promise<Message> {
    if (files === 0) return message;
    const stored = await this.#attachments.of(message.id);
    return {
      ...message,
      attachments: stored.map(({ file, ...each }) => ({
        ...each,
        path: this.#folder.pathOf(file),
        read: () => this.#folder.read(file),
      })),
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
