import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { JobAttempt } from '../../contracts/jobs.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { leftQueueNote } from '../../contracts/notify/send-failure.ts';
import { deliver } from './job.ts';
import { startNextLevel } from './escalation.ts';
import type { DeliveryResult } from '../destinations/destination.ts';
import { FirstAttempts } from './first-attempts.ts';
import { RecentCache } from './recent-cache.ts';
import { Recovery } from './recovery.ts';
import type { DeliverySender } from './delivery-sender.ts';
import { toLoggedUrl, MaskedUrls } from '../store/masked-urls.ts';
import type { OpenDelivery } from '../store/notifications.ts';
import type { NotifyStores } from '../store/stores.ts';
import type { NotifyTables } from '../store/tables.ts';
import { createNotifyMetrics, type NotifyMetrics } from './metrics.ts';

type Payload = z.infer<typeof deliver.schema>;

/** Properties of a completed delivery that are reported. */
type DeliveredNotification = Pick<OpenDelivery, 'message' | 'files' | 'service'>;

/** Completed delivery for the deliveries table; undefined if it is already recorded. */
const CompletedJob = z
  .object({
    /** IDs. */
    notice: z.string(),
    destination: z.string(),
    attempts: z.int(),
    detail: z.string(),
    /** IDs of the notifications that were delivered together, including the one of the job. */
    together: z.array(z.string()),
  })
  .optional();
/** Completed delivery with its notifications, for waiting callers. */
type CompletedDelivery =
  (NonNullable<z.infer<typeof CompletedJob>> & { readonly group?: readonly DeliveredNotification[] }) | undefined;

/** After this attempt (about six minutes), a message that its destination rejects no longer blocks its successors. */
const maxBlockingAttempts = 5;

/** Processes the deliveries of the outbox: sends them, records the results and reports them to waiting callers. */
export class Deliveries {
  readonly #context: Context;
  /** Callers that wait for the first attempts of their deliveries. */
  readonly firstAttempts: FirstAttempts;
  /** Recently accepted notifications, which saves reads. */
  readonly recentCache = new RecentCache();
  readonly #stores: NotifyStores;
  readonly #onChange: () => void;
  readonly #sending: DeliverySender;
  readonly #metrics: NotifyMetrics;
  readonly #recovery: Recovery;
  /** Kind of each destination whose last attempt failed and is retried, by its ID. */
  readonly #failing = new Map<string, string>();
  /** Keys of jobs at the head of a queue whose last attempt failed with an error of the message itself. */
  readonly #rejectedHeads = new Set<string>();
  /** Number of running attempts by destination. */
  readonly #activeAttempts = new Map<string, number>();

  /** `onChange` is called after each attempt whose result was recorded. */
  constructor(context: Context, stores: NotifyStores, sending: DeliverySender, onChange: () => void) {
    this.#context = context;
    this.#onChange = onChange;
    this.#stores = stores;
    this.#sending = sending;
    this.firstAttempts = new FirstAttempts(context.clock);
    this.#metrics = createNotifyMetrics(context);
    this.#recovery = new Recovery(context);
  }

  /** Starts processing; the disposal stops accepting deliveries. */
  async start(): Promise<Disposable> {
    for (const { destination, triedAt } of await this.#stores.notifications.listFailing())
      this.#recovery.recordFailure(destination, 0, triedAt);
    return this.#context.jobs.handle(deliver, (attempt) => this.#runAttempt(attempt), {
      record: (transaction, completed) => this.#record(transaction, completed),
      result: CompletedJob,
      onDone: (completed) => this.#notifyCompleted(completed),
      onDead: (attempt, reason) => this.#handleDead(attempt, reason),
      logsDead: true,
    });
  }

  /** Returns the reason why a new delivery to this destination waits: a recovery, running deliveries, or nothing. */
  getPredecessors(destinationId: string): 'others' | 'turn' | 'nothing' {
    if (this.#failing.has(destinationId)) return 'others';
    return this.#activeAttempts.has(destinationId) ? 'turn' : 'nothing';
  }

  /** Handles new deliveries of these destinations: those that wait after a failure are retried. */
  handleNewDeliveries(destinations: readonly string[]): Promise<void> {
    return this.#recovery.probe(destinations);
  }

  /** Kinds of the destinations that currently fail. */
  get failing(): readonly string[] {
    return [...this.#failing.values()];
  }

  async #runAttempt(attempt: JobAttempt<Payload>): Promise<CompletedDelivery> {
    const { destination } = attempt.payload;
    this.#activeAttempts.set(destination, (this.#activeAttempts.get(destination) ?? 0) + 1);
    try {
      return await this.#attempt(attempt);
    } finally {
      const remaining = (this.#activeAttempts.get(destination) ?? 1) - 1;
      if (remaining === 0) this.#activeAttempts.delete(destination);
      else this.#activeAttempts.set(destination, remaining);
    }
  }

  async #attempt(jobAttempt: JobAttempt<Payload>): Promise<CompletedDelivery> {
    const { payload, attempt, signal } = jobAttempt;
    const cached = this.recentCache.take(payload.notice, payload.destination);
    if (cached !== undefined && attempt === 1) {
      const content = { message: cached.message, group: [cached], progress: '' };
      const result = await this.#sending.sendToDestination(cached.destination, content, signal, payload);
      return this.#handleResult(jobAttempt, result, [{ ...cached, service: cached.destination.service }]);
    }
    const group = await this.#loadGroup(payload);
    // Already completed: before a crash between sending and recording, or together with others of its time window.
    if (group === undefined) return undefined;
    return this.#handleResult(jobAttempt, await this.#sending.send(group, signal, payload), group);
  }

  /**
   * Handles the result of an attempt. A success is recorded together with the job's completion, unless other
   * deliveries depend on it.
   *
   * @throws Problem `notify.not_delivered`.
   */
  async #handleResult(
    { payload, key = '', attempt: attempts, hasSuccessors, signal }: JobAttempt<Payload>,
    result: DeliveryResult,
    group: readonly DeliveredNotification[],
  ): Promise<CompletedDelivery> {
    const { notice, destination, chain } = payload;
    const wasRejected = this.#rejectedHeads.delete(key);
    if (result.ok) {
      if (hasSuccessors) this.#recovery.clear(destination);
      const notificationIds = group.map(({ message }) => message.id);
      const completed: CompletedDelivery = {
        notice,
        destination,
        attempts,
        detail: result.detail,
        together: notificationIds,
        group,
      };
      if (chain === undefined) return completed;
      await this.#commitOutcome(payload, (transaction) => this.#record(transaction, [completed]), isStopping(signal));
      this.#notifyCompleted([completed]);
      return undefined;
    }
    const isLast = payload.strict === true || attempts >= (result.lastAttempt ?? Infinity);
    const retryable = result.retryable && !isLast;
    const isRejected = retryable && hasSuccessors && isMessageFailure(result);
    const stepsAside = isRejected && wasRejected && attempts >= maxBlockingAttempts;
    if (isRejected && !stepsAside) this.#rejectedHeads.add(key);
    // A job that never was in a queue belongs to an escalation level, or is not retried.
    const leavesQueue = stepsAside || (retryable && !hasSuccessors && chain === undefined);
    const detail = leavesQueue ? `${result.detail}${leftQueueNote}` : result.detail;
    // Deliveries that were combined with this one are retried by their own jobs.
    const outcome = { state: retryable ? 'waiting' : 'dead', attempts, detail, code: result.code ?? '' } as const;
    await this.#commitOutcome(
      payload,
      (transaction) => this.#recordFailure(transaction, payload, outcome),
      isStopping(signal),
    );
    this.#stores.health.record(destination, outcome.state, result.detail, outcome.code);
    if (retryable && hasSuccessors && !leavesQueue) this.#recovery.recordFailure(destination, result.retryAfterMs);
    else if (hasSuccessors) this.#recovery.clear(destination);
    if (retryable && !leavesQueue) this.#failing.set(destination, group[0]?.service ?? '');
    else if (hasSuccessors || !leavesQueue) this.#failing.delete(destination);
    const reportedDetail = retryable ? `${result.detail} It is queued and tried again.` : result.detail;
    this.firstAttempts.report(notice, destination, retryable ? 'queued' : 'failed', reportedDetail);
    throw new Problem('notify.not_delivered', result.status ?? 502, () => detail, {
      retryable,
      stepsAside,
      ...(result.retryAfterMs === undefined ? {} : { retryAfterMs: result.retryAfterMs }),
    });
  }

  #recordFailure(
    transaction: Kysely<NotifyTables>,
    { notice, destination }: Payload,
    outcome: Parameters<NotifyStores['notifications']['recordAttempt']>[3],
  ): Promise<void> {
    return this.#stores.notifications.recordAttempt(
      transaction,
      notice,
      destination,
      outcome,
      this.#context.clock.now(),
    );
  }

  async #record(transaction: Kysely<NotifyTables>, all: readonly CompletedDelivery[]): Promise<void> {
    const completed = all.flatMap((each) => {
      if (each === undefined) return [];
      const { together: notificationIds, destination, attempts, detail } = each;
      return notificationIds.map((notice) => ({ notice, destination, attempts, detail }));
    });
    await this.#stores.notifications.recordDone(transaction, completed, this.#context.clock.now());
  }

  #notifyCompleted(all: readonly CompletedDelivery[]): void {
    for (const each of all) {
      if (each === undefined) continue;
      this.#failing.delete(each.destination);
      this.#stores.health.record(each.destination, 'done', each.detail);
      this.firstAttempts.report(each.notice, each.destination, 'done', each.detail);
      for (const delivered of each.group ?? []) {
        this.#metrics.countDelivered(delivered);
        if (delivered.files > 0) void this.#releaseFiles(delivered.message.id);
      }
    }
    this.#onChange();
  }

  /**
   * Loads the delivery and those that are delivered together with it. Returns undefined if it is completed. A dead
   * letter is retried separately.
   */
  async #loadGroup({ notice, destination }: Payload): Promise<readonly OpenDelivery[] | undefined> {
    const open = () => this.#stores.notifications.open(notice, destination);
    let delivery = await open();
    if (delivery?.digest === undefined) return delivery && [delivery];
    // Another delivery of its time window may have included it in the meantime.
    await this.#context.jobs.flush();
    delivery = await open();
    if (delivery?.digest === undefined) return undefined;
    const group = await this.#stores.notifications.openDigest(destination, delivery.digest);
    const { id } = delivery.message;
    return group.some(({ message }) => message.id === id) ? group : [delivery];
  }

  /**
   * Deletes the files of a delivered notification. Files that remain after a failure are removed later with the
   * orphans.
   */
  async #releaseFiles(notificationId: string): Promise<void> {
    try {
      await this.#context.jobs.flush();
      await this.#stores.folder.remove(await this.#stores.attachments.deleteDelivered(notificationId));
    } catch (error) {
      this.#context.log.warn('attachment removal failed', { error });
    }
  }

  /** Records a result and, if an escalation level has failed, starts the next one. */
  async #commitOutcome(
    { notice, chain }: Payload,
    write: (transaction: Kysely<NotifyTables>) => Promise<void>,
    isStopping = false,
  ): Promise<void> {
    const { clock, commit, jobs } = this.#context;
    const escalation = await commit(async (transaction) => {
      await write(transaction);
      if (chain === undefined || isStopping) return undefined;
      return startNextLevel(
        transaction,
        { jobs, notifications: this.#stores.notifications, now: clock.now() },
        notice,
        chain,
      );
    });
    if (escalation !== undefined)
      this.firstAttempts.replaceWithNextLevel(notice, escalation.failedIds, escalation.next);
    this.#onChange();
  }

  async #handleDead(
    { payload, key = '', attempt }: Omit<JobAttempt<Payload>, 'signal'>,
    reason: string,
  ): Promise<void> {
    const { log, vault } = this.#context;
    const delivery = await this.#stores.notifications.find(payload.notice, payload.destination);
    this.#failing.delete(payload.destination);
    this.#rejectedHeads.delete(key);
    if (delivery === undefined || delivery.state === 'done') return;
    const outcome = { state: 'dead', attempts: attempt, detail: reason } as const;
    await this.#commitOutcome(payload, (transaction) => this.#recordFailure(transaction, payload, outcome));
    this.#stores.health.record(payload.destination, 'dead', reason, delivery.code);
    this.firstAttempts.report(payload.notice, payload.destination, 'failed', reason);
    this.#metrics.countFailed(delivery.service);
    const destination = toLoggedUrl(new MaskedUrls(vault).open(delivery.shownUrl));
    log.warn('delivery failed permanently', { event: 'delivery_failed', destination, attempts: attempt, reason });
  }
}

/** Returns true if the host aborted the attempt in order to stop. Such a result is not about the destination. */
function isStopping({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof Problem && reason.code === 'jobs.interrupted';
}

/**
 * Returns true if the destination rejects this message but may accept others. If it is unavailable, all deliveries
 * wait in order.
 */
function isMessageFailure({ status = 0, retryAfterMs }: Extract<DeliveryResult, { ok: false }>): boolean {
  // Status codes of proxies whose backend is unavailable or overloaded; 520 to 530 are used by Cloudflare.
  const isUnavailable = (status >= 502 && status <= 504) || (status >= 520 && status <= 530);
  return status >= 500 && !isUnavailable && retryAfterMs === undefined;
}
