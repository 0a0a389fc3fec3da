import type { Kysely } from 'kysely';
import type { z } from 'zod';
import type { Attempt } from '../contracts/jobs.ts';
import { withPictures } from '../contracts/emoji.ts';
import { Problem } from '../contracts/problem.ts';
import type { Context, Counter, Histogram } from '../contracts/service.ts';
import { deliver } from './deliver.ts';
import { askNext } from './escalation.ts';
import { engineLabel, kinds, labelOf } from './destinations/catalogue.ts';
import type { AttachmentFolder } from './attachments/folder.ts';
import type { Destination, Result } from './destinations/destination.ts';
import { openProgress } from './destinations/progress.ts';
import { joinMessages } from './domain/digest.ts';
import type { Message } from './domain/message.ts';
import type { FirstAttempts } from './first-attempts.ts';
import type { FreshDeliveries } from './fresh.ts';
import type { SealedDestinations } from './sealed-destinations.ts';
import type { Settings } from './settings.ts';
import type { AttachmentStore } from './store/attachments.ts';
import { noteProgress } from './store/delivery-progress.ts';
import type { NoticeStore, OpenDelivery } from './store/notices.ts';
import type { NotifyTables } from './store/tables.ts';

type Payload = z.infer<typeof deliver.schema>;

/** What was sent: for the mark of its delivery, and for who waits for it. */
interface Sent {
  readonly notice: string;
  /** Those that came together, the one of the job among them. */
  readonly group: readonly Delivered[];
  readonly destination: string;
  readonly attempts: number;
  readonly detail: string;
}

/** What is told of a delivery that was made. */
type Delivered = Pick<OpenDelivery, 'message' | 'files' | 'service'>;

/** A message with what goes with it. */
interface Whole {
  readonly message: Message;
  readonly files: number;
  /** As it is stored; undefined where pieces are not to be remembered. */
  readonly progress: string | undefined;
}

/** Works the deliveries of the outbox: sends, notes the outcome, tells a caller that still waits. */
export class Deliveries {
  readonly #context: Context;
  readonly #notices: NoticeStore;
  readonly #firstAttempts: FirstAttempts;
  readonly #changed: () => void;
  readonly #emojis: Settings['emojis'];
  readonly #attachments: AttachmentStore;
  readonly #folder: AttachmentFolder;
  readonly #fresh: FreshDeliveries;
  readonly #sealed: SealedDestinations;
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
      readonly fresh: FreshDeliveries;
      readonly sealed: SealedDestinations;
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
    this.#fresh = parts.fresh;
    this.#sealed = parts.sealed;
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
      record: (transaction, sent) => this.#record(transaction, sent),
      onDone: (sent) => this.#tell(sent),
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

  /** Undefined: there is nothing left to do. */
  async #attempt({ payload, attempt, signal }: Attempt<Payload>): Promise<Sent | undefined> {
    const { notice, destination } = payload;
    const fresh = this.#fresh.take(notice, destination);
    if (fresh !== undefined && attempt === 1) {
      const { message, files } = fresh;
      const result = await this.#sendTo(fresh.destination, { message, files, progress: '' }, signal, payload);
      return this.#judge(payload, attempt, result, [{ message, files, service: fresh.destination.service }], signal);
    }
    const delivery = await this.#notices.open(notice, destination);
    // Made before a crash that came between the effect and the job's mark, or together with others of its window.
    if (delivery === undefined) return undefined;
    const group = await this.#groupOf(destination, delivery);
    return this.#judge(payload, attempt, await this.#send(group, signal, payload), group, signal);
  }

  /** A success is noted together with the job's mark. @throws Problem `notify.not_delivered`. */
  async #judge(
    payload: Payload,
    attempts: number,
    sent: Result,
    group: readonly Delivered[],
    signal: AbortSignal,
  ): Promise<Sent> {
    const { notice, destination, chain } = payload;
    const { detail } = sent;
    if (sent.ok) {
      // The others of its level need to know.
      if (chain !== undefined) await this.#note(payload, { state: 'done', attempts, detail }, isStopping(signal));
      return { notice, group, destination, attempts, detail };
    }
    const retryable = sent.retryable && payload.strict !== true && attempts < (sent.lastAttempt ?? Infinity);
    // What was joined to this one is tried again by its own job.
    await this.#note(payload, { state: retryable ? 'waiting' : 'dead', attempts, detail }, isStopping(signal));
    if (retryable) this.#failing.add(destination);
    else this.#failing.delete(destination);
    const told = retryable ? `${detail} It is queued and tried again.` : detail;
    this.#firstAttempts.report(notice, destination, retryable ? 'queued' : 'failed', told);
    throw new Problem('notify.not_delivered', sent.status ?? 502, detail, {
      retryable,
      ...(sent.retryAfterMs === undefined ? {} : { retryAfterMs: sent.retryAfterMs }),
    });
  }

  async #record(transaction: Kysely<NotifyTables>, sent: readonly (Sent | undefined)[]): Promise<void> {
    const made = sent.flatMap((each) => {
      if (each === undefined) return [];
      const { group, destination, attempts, detail } = each;
      return group.map(({ message }) => ({ notice: message.id, destination, attempts, detail }));
    });
    await this.#notices.noteDone(transaction, made, this.#context.clock.now());
  }

  #tell(sent: readonly (Sent | undefined)[]): void {
    for (const each of sent) {
      if (each === undefined) continue;
      this.#failing.delete(each.destination);
      this.#firstAttempts.report(each.notice, each.destination, 'done', each.detail);
      this.#count(each.group);
    }
    this.#changed();
  }

  /** The delivery with those that come together with it. One that was given up before comes alone. */
  async #groupOf(destination: string, delivery: OpenDelivery): Promise<readonly OpenDelivery[]> {
    if (delivery.digest === undefined) return [delivery];
    const group = await this.#notices.openDigest(destination, delivery.digest);
    return group.some(({ message }) => message.id === delivery.message.id) ? group : [delivery];
  }

  #count(group: readonly Delivered[]): void {
    const now = this.#context.clock.now();
    for (const { files, message, service } of group) {
      if (files > 0) void this.#releaseFiles(message.id);
      const scheme = labelOf(service);
      this.#sent.inc({ scheme, status: 'success' });
      this.#seconds.observe(Math.max(0, now - message.time) / 1000, { scheme });
    }
  }

  /** What stays because of a failure goes with the next sweep of the folder. */
  async #releaseFiles(noticeId: string): Promise<void> {
    try {
      await this.#folder.remove(await this.#attachments.release(noticeId));
    } catch (error) {
      this.#context.log.warn('files of a delivered notification were not removed', { error });
    }
  }

  /** Notes an outcome and, where it ends a level of an escalation in vain, has the next one asked. */
  async #note(
    { notice, destination, chain }: Payload,
    outcome: Parameters<NoticeStore['note']>[3],
    isStopping = false,
  ): Promise<void> {
    const { clock, commit, jobs } = this.#context;
    const now = clock.now();
    const step = await commit(async (transaction) => {
      await this.#notices.note(transaction, notice, destination, outcome, now);
      if (chain === undefined || isStopping) return undefined;
      return askNext(transaction, { jobs, notices: this.#notices, now }, notice, chain);
    });
    if (step !== undefined) this.#firstAttempts.goOn(notice, step.asked, step.next);
    this.#changed();
  }

  async #send(group: readonly OpenDelivery[], signal: AbortSignal, payload: Payload): Promise<Result> {
    const last = group.at(-1);
    const [first] = group;
    const message = joinMessages(
      group.map((each) => each.message),
      `${first?.message.id ?? ''}:digest`,
    );
    if (last === undefined || message === undefined) return { ok: true, detail: 'There was nothing left to send.' };
    const destination = this.#sealed.open(last);
    if (typeof destination === 'string') {
      return {
        ok: false,
        retryable: false,
        detail: `The ${last.service} destination is not valid: ${destination}.`,
      };
    }
    // What is joined is another message as soon as one of it is given up, so its pieces are others too.
    const { files, progress } = group.length === 1 ? last : { files: 0, progress: undefined };
    return this.#sendTo(destination, { message, files, progress }, signal, payload);
  }

  async #sendTo(
    destination: Destination,
    { message, files, progress: stored }: Whole,
    signal: AbortSignal,
    { destination: to, retries }: Payload,
  ): Promise<Result> {
    const whole = await this.#withFiles(message, files);
    const dressed = this.#shows(destination)
      ? { ...whole, title: withPictures(whole.title), body: withPictures(whole.body) }
      : whole;
    const save = (progress: string): Promise<void> =>
      this.#context.commit((transaction) => noteProgress(transaction, message.id, to, progress));
    const progress = stored === undefined ? undefined : openProgress(stored, save);
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
    await this.#note(payload, { state: 'dead', attempts: attempt, detail: reason });
    this.#firstAttempts.report(payload.notice, payload.destination, 'failed', reason);
    this.#sent.inc({ scheme: labelOf(delivery.service), status: 'failure' });
    log.warn('notification given up', { destination: delivery.shownUrl, attempts: attempt, reason });
  }
}

/** An attempt the host broke off to stop says nothing about the destination. */
function isStopping({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof Problem && reason.code === 'jobs.interrupted';
}
