import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { JobAttempt } from '../../contracts/jobs.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { deliver } from './job.ts';
import { askNext } from './escalation.ts';
import type { AttachmentFolder } from '../attachments/folder.ts';
import type { Result } from '../destinations/destination.ts';
import type { FirstAttempts } from './first-attempts.ts';
import type { RecentCache } from './recent-cache.ts';
import { Recovery } from './recovery.ts';
import type { Sending } from './delivery-sender.ts';
import { loggedUrl, ShownUrls } from '../keys/masked-urls.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import type { HealthStore } from '../store/health.ts';
import type { NoticeStore, OpenDelivery } from '../store/notifications.ts';
import type { NotifyTables } from '../store/tables.ts';
import { createNotifyMetrics, type NotifyMetrics } from './metrics.ts';

type Payload = z.infer<typeof deliver.schema>;

/** What is told of a delivery that was made. */
type Delivered = Pick<OpenDelivery, 'message' | 'files' | 'service'>;

/** What was sent, for the marks of its deliveries; undefined where that is noted already. */
const Marked = z
  .object({
    /** Ids. */
    notice: z.string(),
    destination: z.string(),
    attempts: z.int(),
    detail: z.string(),
    /** Ids of the notices that came together, the one of the job among them. */
    together: z.array(z.string()),
  })
  .optional();
/** The same for who waits for it. */
type Made = (NonNullable<z.infer<typeof Marked>> & { readonly group?: readonly Delivered[] }) | undefined;

/** A message that its destination cannot digest lets those behind it pass at this attempt, after six minutes. */
const lastInLine = 5;

/** Works the deliveries of the outbox: sends, notes the outcome, tells a caller that still waits. */
export class Deliveries {
  readonly #context: Context;
  readonly #notices: NoticeStore;
  readonly #firstAttempts: FirstAttempts;
  readonly #changed: () => void;
  readonly #attachments: AttachmentStore;
  readonly #folder: AttachmentFolder;
  readonly #sending: Sending;
  readonly #fresh: RecentCache;
  readonly #health: HealthStore;
  readonly #tally: NotifyMetrics;
  readonly #recovery: Recovery;
  /** What kind each destination is of whose last attempt failed and is to be repeated, by its id. */
  readonly #failing = new Map<string, string>();
  /** First ones of a line, by their job's key, whose last attempt ended with an error of the destination's own. */
  readonly #undigested = new Set<string>();
  /** Attempts under way, by destination. */
  readonly #underWay = new Map<string, number>();

  /** `changed` is called after each attempt whose outcome was noted. */
  constructor(
    context: Context,
    parts: {
      readonly notices: NoticeStore;
      readonly attachments: AttachmentStore;
      readonly folder: AttachmentFolder;
      readonly firstAttempts: FirstAttempts;
      readonly sending: Sending;
      readonly fresh: RecentCache;
      readonly health: HealthStore;
      readonly changed: () => void;
    },
  ) {
    this.#context = context;
    this.#changed = parts.changed;
    this.#notices = parts.notices;
    this.#attachments = parts.attachments;
    this.#folder = parts.folder;
    this.#sending = parts.sending;
    this.#fresh = parts.fresh;
    this.#health = parts.health;
    this.#firstAttempts = parts.firstAttempts;
    this.#tally = createNotifyMetrics(context);
    this.#recovery = new Recovery(context);
  }

  /** Begins to work; the disposal stops taking new deliveries. */
  async start(): Promise<Disposable> {
    for (const { destination, triedAt } of await this.#notices.waitingOut())
      this.#recovery.failed(destination, 0, triedAt);
    return this.#context.jobs.handle(deliver, (attempt) => this.#attemptNext(attempt), {
      record: (transaction, made) => this.#record(transaction, made),
      result: Marked,
      onDone: (made) => this.#tell(made),
      onDead: (attempt, reason) => this.#giveUp(attempt, reason),
      logsDead: true,
    });
  }

  /** What a new delivery to this destination has to wait for: its recovery, the end of others, or nothing. */
  aheadOf(destinationId: string): 'others' | 'turn' | 'nothing' {
    if (this.#failing.has(destinationId)) return 'others';
    return this.#underWay.has(destinationId) ? 'turn' : 'nothing';
  }

  /** Says that new deliveries stand in the lines of these destinations: those that are waiting out a failure are tried. */
  came(destinations: readonly string[]): Promise<void> {
    return this.#recovery.probe(destinations);
  }

  /** The kind of each destination that does not take what is sent to it, as deliveries name it. */
  get failing(): readonly string[] {
    return [...this.#failing.values()];
  }

  async #attemptNext(attempt: JobAttempt<Payload>): Promise<Made> {
    const { destination } = attempt.payload;
    this.#underWay.set(destination, (this.#underWay.get(destination) ?? 0) + 1);
    try {
      return await this.#attempt(attempt);
    } finally {
      const left = (this.#underWay.get(destination) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(destination);
      else this.#underWay.set(destination, left);
    }
  }

  async #attempt(given: JobAttempt<Payload>): Promise<Made> {
    const { payload, attempt, signal } = given;
    const fresh = this.#fresh.take(payload.notice, payload.destination);
    if (fresh !== undefined && attempt === 1) {
      const whole = { message: fresh.message, group: [fresh], progress: '' };
      const sent = await this.#sending.sendTo(fresh.destination, whole, signal, payload);
      return this.#judge(given, sent, [{ ...fresh, service: fresh.destination.service }]);
    }
    const group = await this.#groupOf(payload);
    // Made before a crash that came between the effect and the job's mark, or together with others of its window.
    if (group === undefined) return undefined;
    return this.#judge(given, await this.#sending.send(group, signal, payload), group);
  }

  /** A success is noted together with the job's mark, unless it decides about others. @throws Problem `notify.not_delivered`. */
  async #judge(
    { payload, key = '', attempt: attempts, hasSuccessors: inLine, signal }: JobAttempt<Payload>,
    sent: Result,
    group: readonly Delivered[],
  ): Promise<Made> {
    const { notice, destination, chain } = payload;
    const again = this.#undigested.delete(key);
    if (sent.ok) {
      if (inLine) this.#recovery.ended(destination);
      const together = group.map(({ message }) => message.id);
      const made: Made = { notice, destination, attempts, detail: sent.detail, together, group };
      if (chain === undefined) return made;
      await this.#note(payload, (transaction) => this.#record(transaction, [made]), isStopping(signal));
      this.#tell([made]);
      return undefined;
    }
    const isLast = payload.strict === true || attempts >= (sent.lastAttempt ?? Infinity);
    const retryable = sent.retryable && !isLast;
    const isUndigested = retryable && inLine && isAboutOne(sent);
    const stepsAside = isUndigested && again && attempts >= lastInLine;
    if (isUndigested && !stepsAside) this.#undigested.add(key);
    // One that stands in no line from the beginning belongs to a level, or is not tried again.
    const isAside = stepsAside || (retryable && !inLine && chain === undefined);
    const detail = isAside ? `${sent.detail} Those behind it do not wait for it.` : sent.detail;
    // What was joined to this one is tried again by its own job.
    const outcome = { state: retryable ? 'waiting' : 'dead', attempts, detail } as const;
    await this.#note(payload, (transaction) => this.#noteFailure(transaction, payload, outcome), isStopping(signal));
    this.#health.note(destination, outcome.state, sent.detail);
    if (retryable && inLine && !isAside) this.#recovery.failed(destination, sent.retryAfterMs);
    else if (inLine) this.#recovery.ended(destination);
    if (retryable && !isAside) this.#failing.set(destination, group[0]?.service ?? '');
    else if (inLine || !isAside) this.#failing.delete(destination);
    const told = retryable ? `${sent.detail} It is queued and tried again.` : sent.detail;
    this.#firstAttempts.report(notice, destination, retryable ? 'queued' : 'failed', told);
    throw new Problem('notify.not_delivered', sent.status ?? 502, detail, {
      ...{ retryable, stepsAside },
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

  async #record(transaction: Kysely<NotifyTables>, all: readonly Made[]): Promise<void> {
    const made = all.flatMap((each) => {
      if (each === undefined) return [];
      const { together, destination, attempts, detail } = each;
      return together.map((notice) => ({ notice, destination, attempts, detail }));
    });
    await this.#notices.noteDone(transaction, made, this.#context.clock.now());
  }

  #tell(all: readonly Made[]): void {
    for (const each of all) {
      if (each === undefined) continue;
      this.#failing.delete(each.destination);
      this.#health.note(each.destination, 'done', each.detail);
      this.#firstAttempts.report(each.notice, each.destination, 'done', each.detail);
      for (const delivered of each.group ?? []) {
        this.#tally.sent(delivered);
        if (delivered.files > 0) void this.#releaseFiles(delivered.message.id);
      }
    }
    this.#changed();
  }

  /** The delivery with those that come together with it; undefined when it was made. One that was given up before comes alone. */
  async #groupOf({ notice, destination }: Payload): Promise<readonly OpenDelivery[] | undefined> {
    const open = () => this.#notices.open(notice, destination);
    let delivery = await open();
    if (delivery?.digest === undefined) return delivery && [delivery];
    // One of its window may have taken it along just now.
    await this.#context.jobs.flush();
    delivery = await open();
    if (delivery?.digest === undefined) return undefined;
    const group = await this.#notices.openDigest(destination, delivery.digest);
    const { id } = delivery.message;
    return group.some(({ message }) => message.id === id) ? group : [delivery];
  }

  /** What stays because of a failure goes with the next sweep of the folder. */
  async #releaseFiles(noticeId: string): Promise<void> {
    try {
      await this.#context.jobs.flush();
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

  async #giveUp({ payload, key = '', attempt }: Omit<JobAttempt<Payload>, 'signal'>, reason: string): Promise<void> {
    const { log, vault } = this.#context;
    const delivery = await this.#notices.find(payload.notice, payload.destination);
    this.#failing.delete(payload.destination);
    this.#undigested.delete(key);
    if (delivery === undefined || delivery.state === 'done') return;
    const outcome = { state: 'dead', attempts: attempt, detail: reason } as const;
    await this.#note(payload, (transaction) => this.#noteFailure(transaction, payload, outcome));
    this.#health.note(payload.destination, 'dead', reason);
    this.#firstAttempts.report(payload.notice, payload.destination, 'failed', reason);
    this.#tally.givenUp(delivery.service);
    const destination = loggedUrl(new ShownUrls(vault).open(delivery.shownUrl));
    log.warn('notification given up', { destination, attempts: attempt, reason });
  }
}

/** An attempt the host broke off to stop says nothing about the destination. */
function isStopping({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof Problem && reason.code === 'jobs.interrupted';
}

/** A program that answers, and fails at this message; another may be taken. Where it is away, all wait in their order. */
function isAboutOne({ status = 0, retryAfterMs }: Extract<Result, { ok: false }>): boolean {
  // Of what stands before a program that is away or has too much to do; the 520s are of Cloudflare.
  const isAway = (status >= 502 && status <= 504) || (status >= 520 && status <= 530);
  return status >= 500 && !isAway && retryAfterMs === undefined;
}
