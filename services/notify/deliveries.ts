import type { Kysely } from 'kysely';
import type { z } from 'zod';
import type { Attempt } from '../contracts/jobs.ts';
import { withPictures } from '../contracts/emoji.ts';
import { Problem } from '../contracts/problem.ts';
import type { Context } from '../contracts/service.ts';
import { deliver } from './deliver.ts';
import { askNext } from './escalation.ts';
import type { AttachmentFolder } from './attachments/folder.ts';
import type { Destination, Result } from './destinations/destination.ts';
import { openProgress } from './destinations/progress.ts';
import { joinMessages, withFiles } from './domain/digest.ts';
import type { Attachment, Message } from './domain/message.ts';
import type { FirstAttempts } from './first-attempts.ts';
import type { FreshDeliveries } from './fresh.ts';
import type { SealedDestinations } from './sealed-destinations.ts';
import type { Settings } from './settings.ts';
import type { AttachmentStore } from './store/attachments.ts';
import { noteProgress } from './store/delivery-progress.ts';
import type { HealthStore } from './store/health.ts';
import type { NoticeStore, OpenDelivery } from './store/notices.ts';
import type { NotifyTables } from './store/tables.ts';
import { createTally, type Tally } from './tally.ts';

type Payload = z.infer<typeof deliver.schema>;

/** What is told of a delivery that was made. */
type Delivered = Pick<OpenDelivery, 'message' | 'files' | 'service'>;

type WithFiles = Pick<OpenDelivery, 'message' | 'files'>;

/** A message with what goes with it. */
interface Whole {
  readonly message: Message;
  /** Those that it says; their files go with it. */
  readonly group: readonly WithFiles[];
  /** As it was stored by the attempts before; undefined where pieces are not to be remembered. */
  readonly progress: string | undefined;
}

/** What was sent: for the mark of its delivery, and for who waits for it. */
interface Made {
  readonly notice: string;
  readonly destination: string;
  readonly attempts: number;
  readonly detail: string;
  /** Those that came together, the one of the job among them. */
  readonly group: readonly Delivered[];
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
  readonly #sealed: SealedDestinations;
  readonly #fresh: FreshDeliveries;
  readonly #health: HealthStore;
  readonly #tally: Tally;
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
      readonly sealed: SealedDestinations;
      readonly fresh: FreshDeliveries;
      readonly health: HealthStore;
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
    this.#sealed = parts.sealed;
    this.#fresh = parts.fresh;
    this.#health = parts.health;
    this.#firstAttempts = parts.firstAttempts;
    this.#tally = createTally(context);
  }

  /** Begins to work; the disposal stops taking new deliveries. */
  start(): Disposable {
    return this.#context.jobs.handle(deliver, (attempt) => this.#attempt(attempt), {
      record: (transaction, made) => this.#record(transaction, made),
      onDone: (made) => this.#tell(made),
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

  /** Undefined: it is noted already. */
  async #attempt({ payload, attempt, signal }: Attempt<Payload>): Promise<Made | undefined> {
    const fresh = this.#fresh.take(payload.notice, payload.destination);
    if (fresh !== undefined && attempt === 1) {
      const whole = { message: fresh.message, group: [fresh], progress: '' };
      const sent = await this.#sendTo(fresh.destination, whole, signal, payload);
      return this.#judge(payload, attempt, sent, [{ ...fresh, service: fresh.destination.service }], signal);
    }
    const delivery = await this.#notices.open(payload.notice, payload.destination);
    // Made before a crash that came between the effect and the job's mark, or together with others of its window.
    if (delivery === undefined) return undefined;
    const group = await this.#groupOf(payload.destination, delivery);
    return this.#judge(payload, attempt, await this.#send(group, signal, payload), group, signal);
  }

  /** A success is noted together with the job's mark, unless it decides about others. @throws Problem `notify.not_delivered`. */
  async #judge(
    payload: Payload,
    attempts: number,
    sent: Result,
    group: readonly Delivered[],
    signal: AbortSignal,
  ): Promise<Made | undefined> {
    const { notice, destination, chain } = payload;
    if (sent.ok) {
      const made: Made = { notice, destination, attempts, detail: sent.detail, group };
      if (chain === undefined) return made;
      await this.#note(payload, (transaction) => this.#record(transaction, [made]), isStopping(signal));
      this.#tell([made]);
      return undefined;
    }
    const isLast = payload.strict === true || attempts >= (sent.lastAttempt ?? Infinity);
    const retryable = sent.retryable && !isLast;
    // What was joined to this one is tried again by its own job.
    const outcome = { state: retryable ? 'waiting' : 'dead', attempts, detail: sent.detail } as const;
    await this.#note(payload, (transaction) => this.#noteFailure(transaction, payload, outcome), isStopping(signal));
    this.#health.note(destination, outcome.state, sent.detail);
    if (retryable) this.#failing.add(destination);
    else this.#failing.delete(destination);
    const detail = retryable ? `${sent.detail} It is queued and tried again.` : sent.detail;
    this.#firstAttempts.report(notice, destination, retryable ? 'queued' : 'failed', detail);
    throw new Problem('notify.not_delivered', sent.status ?? 502, sent.detail, {
      retryable,
      ...(sent.retryAfterMs === undefined ? {} : { retryAfterMs: sent.retryAfterMs }),
    });
  }

  #noteFailure(
    transaction: Kysely<NotifyTables>,
    { notice, destination }: Payload,
    outcome: Parameters<NoticeStore['note']>[3],
  ): Promise<void> {
    return this.#notices.note(transaction, notice, destination, outcome, this.#context.clock.now());
  }

  async #record(transaction: Kysely<NotifyTables>, all: readonly (Made | undefined)[]): Promise<void> {
    const made = all.flatMap((each) => {
      if (each === undefined) return [];
      const { group, destination, attempts, detail } = each;
      return group.map(({ message }) => ({ notice: message.id, destination, attempts, detail }));
    });
    await this.#notices.noteDone(transaction, made, this.#context.clock.now());
  }

  #tell(all: readonly (Made | undefined)[]): void {
    for (const each of all) {
      if (each === undefined) continue;
      this.#failing.delete(each.destination);
      this.#health.note(each.destination, 'done', each.detail);
      this.#firstAttempts.report(each.notice, each.destination, 'done', each.detail);
      for (const delivered of each.group) {
        this.#tally.sent(delivered);
        if (delivered.files > 0) void this.#releaseFiles(delivered.message.id);
      }
    }
    this.#changed();
  }

  /** The delivery with those that come together with it. One that was given up before comes alone. */
  async #groupOf(destination: string, delivery: OpenDelivery): Promise<readonly OpenDelivery[]> {
    if (delivery.digest === undefined) return [delivery];
    const group = await this.#notices.openDigest(destination, delivery.digest);
    return group.some(({ message }) => message.id === delivery.message.id) ? group : [delivery];
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
    { notice, chain }: Payload,
    write: (transaction: Kysely<NotifyTables>) => Promise<void>,
    isStopping = false,
  ): Promise<void> {
    const { clock, commit, jobs } = this.#context;
    const step = await commit(async (transaction) => {
      await write(transaction);
      if (chain === undefined || isStopping) return undefined;
      return askNext(transaction, { jobs, notices: this.#notices, now: clock.now() }, notice, chain);
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
    const progress = group.length === 1 ? last.progress : undefined;
    return this.#sendTo(destination, { message, group, progress }, signal, payload);
  }

  async #sendTo(
    destination: Destination,
    { message, group, progress: stored }: Whole,
    signal: AbortSignal,
    { destination: to, retries }: Payload,
  ): Promise<Result> {
    const files = (await Promise.all(group.map((each) => this.#filesOf(each)))).flat();
    const whole =
      group.length > 1 ? withFiles(message, files) : files.length > 0 ? { ...message, attachments: files } : message;
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

  async #filesOf({ message, files }: WithFiles): Promise<readonly Attachment[]> {
    const stored = files === 0 ? [] : await this.#attachments.of(message.id);
    return stored.map(({ file, ...each }) => ({
      ...each,
      path: this.#folder.pathOf(file),
      read: () => this.#folder.read(file),
    }));
  }

  async #giveUp({ payload, attempt }: Omit<Attempt<Payload>, 'signal'>, reason: string): Promise<void> {
    const { log } = this.#context;
    const delivery = await this.#notices.find(payload.notice, payload.destination);
    this.#failing.delete(payload.destination);
    if (delivery === undefined || delivery.state === 'done') return;
    const outcome = { state: 'dead', attempts: attempt, detail: reason } as const;
    await this.#note(payload, (transaction) => this.#noteFailure(transaction, payload, outcome));
    this.#health.note(payload.destination, 'dead', reason);
    this.#firstAttempts.report(payload.notice, payload.destination, 'failed', reason);
    this.#tally.givenUp(delivery.service);
    log.warn('notification given up', { destination: delivery.shownUrl, attempts: attempt, reason });
  }
}

/** An attempt the host broke off to stop says nothing about the destination. */
function isStopping({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof Problem && reason.code === 'jobs.interrupted';
}
