import type { z } from 'zod';
import type { Attempt } from '../contracts/jobs.ts';
import { withPictures } from '../contracts/emoji.ts';
import { Problem } from '../contracts/problem.ts';
import type { Context, Counter, Histogram } from '../contracts/service.ts';
import { deliver, urlPurpose } from './deliver.ts';
import { askNext } from './escalation.ts';
import { engineLabel, kinds, labelOf, parseDestination } from './destinations/catalogue.ts';
import type { AttachmentFolder } from './attachments/folder.ts';
import type { Destination, Result } from './destinations/destination.ts';
import { openProgress } from './destinations/progress.ts';
import { joinMessages } from './domain/digest.ts';
import type { Message } from './domain/message.ts';
import type { EngineDestinations } from './engine/destinations.ts';
import type { FirstAttempts } from './first-attempts.ts';
import type { Settings } from './settings.ts';
import type { AttachmentStore } from './store/attachments.ts';
import { noteProgress } from './store/delivery-progress.ts';
import type { NoticeStore, OpenDelivery } from './store/notices.ts';

type Payload = z.infer<typeof deliver.schema>;

/** Works the deliveries of the outbox: sends, notes the outcome, tells a caller that still waits. */
export class Deliveries {
  readonly #context: Context;
  readonly #notices: NoticeStore;
  readonly #firstAttempts: FirstAttempts;
  readonly #changed: () => void;
  readonly #emojis: Settings['emojis'];
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
      readonly emojis: Settings['emojis'];
    },
  ) {
    this.#context = context;
    this.#changed = parts.changed;
    this.#emojis = parts.emojis;
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
    const sent = await this.#send(group, signal, payload);
    const isLast = payload.strict === true || (!sent.ok && attempt >= (sent.lastAttempt ?? Infinity));
    const result: Result = isLast && !sent.ok ? { ...sent, retryable: false } : sent;
    const state = result.ok ? 'done' : result.retryable ? 'waiting' : 'dead';
    // What was joined to this one is tried again by its own job.
    const notices = result.ok ? group.map(({ message }) => message.id) : payload.notice;
    await this.#note(payload, notices, { state, attempts: attempt, detail: result.detail }, isStopping(signal));
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

  /** Notes an outcome and, where it ends a level of an escalation in vain, has the next one asked. */
  async #note(
    { notice, destination, chain }: Payload,
    notices: string | readonly string[],
    outcome: Parameters<NoticeStore['note']>[3],
    isStopping = false,
  ): Promise<void> {
    const { clock, commit, jobs } = this.#context;
    const now = clock.now();
    const step = await commit(async (transaction) => {
      await this.#notices.note(transaction, notices, destination, outcome, now);
      if (chain === undefined || isStopping) return undefined;
      return askNext(transaction, { jobs, notices: this.#notices, now }, notice, chain);
    });
    if (step !== undefined) this.#firstAttempts.goOn(notice, step.asked, step.next);
    this.#changed();
  }

  async #send(
    group: readonly OpenDelivery[],
    signal: AbortSignal,
    { destination: to, retries }: Payload,
  ): Promise<Result> {
    const last = group.at(-1);
    const [first] = group;
    const message = joinMessages(
      group.map((each) => each.message),
      `${first?.message.id ?? ''}:digest`,
    );
    if (last === undefined || message === undefined) return { ok: true, detail: 'There was nothing left to send.' };
    const { service, shownUrl: masked } = last;
    const destination = parseDestination(this.#context.vault.open(last.sealedUrl, urlPurpose), (url) =>
      this.#engine.open({ service, url, masked, optional: false }),
    );
    if (typeof destination === 'string') {
      return {
        ok: false,
        retryable: false,
        detail: `The ${last.service} destination is not valid: ${destination}.`,
      };
    }
    const whole = group.length === 1 ? await this.#withFiles(message, last.files) : message;
    const dressed = this.#shows(destination)
      ? { ...whole, title: withPictures(whole.title), body: withPictures(whole.body) }
      : whole;
    const save = (progress: string): Promise<void> =>
      this.#context.commit((transaction) => noteProgress(transaction, message.id, to, progress));
    // What is joined is another message as soon as one of it is given up, so its pieces are others too.
    const progress = group.length === 1 ? openProgress(last.progress, save) : undefined;
    return destination.send(dressed, this.#context, signal, { retries, progress });
  }

  /** Whether short codes become pictures there; a setting that forbids them wins over the URL, as in the peer. */
  #shows({ emojis }: Destination): boolean {
    return this.#emojis === 'yes' ? emojis !== false : this.#emojis === 'asked' && emojis === true;
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
    const { log } = this.#context;
    const delivery = await this.#notices.find(payload.notice, payload.destination);
    this.#failing.delete(payload.destination);
    if (delivery === undefined || delivery.state === 'done') return;
    await this.#note(payload, payload.notice, { state: 'dead', attempts: attempt, detail: reason });
    this.#firstAttempts.report(payload.notice, payload.destination, 'failed', reason);
    this.#sent.inc({ scheme: labelOf(delivery.service), status: 'failure' });
    log.warn('notification given up', { destination: delivery.shownUrl, attempts: attempt, reason });
  }
}

/** An attempt the host broke off to stop says nothing about the destination. */
function isStopping({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof Problem && reason.code === 'jobs.interrupted';
}
