import * as m from '#messages/notify-problems';
import { Readable } from 'node:stream';
import type { Kysely } from 'kysely';
import { createWallClock } from '../../contracts/quiet-hours.ts';
import {
  notificationAccepted,
  type NotificationContent,
  type NotificationOffer,
} from '../../contracts/notify/notification.ts';
import type { NotifyKeyOptions } from '../../contracts/notify/options.ts';
import { runInEnglish } from '../../kit/language.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { createSortableId } from '../../kit/sortable-id.ts';
import type { StoredFile } from '../attachments/folder.ts';
import {
  collectSelections,
  selectDeliveries,
  computeFingerprint,
  buildMessage,
  selectUrls,
  type Selection,
  type Key,
} from './selection.ts';
import type { Deliveries } from '../deliver/deliveries.ts';
import type { CallOptions, PlannedDelivery } from '../deliver/planned-delivery.ts';
import { enqueueDeliveries, planDeliveryLevels, type DeliveryLevels } from '../deliver/escalation.ts';
import { parseDestination } from '../destinations/catalogue.ts';
import { noRules, planDelivery, windowStart } from '../domain/delivery-rules.ts';
import { parseTagField } from '../domain/tags.ts';
import type { IsAllowed } from '../destinations/service-filter.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import type { Outcome } from '../deliver/first-attempts.ts';
import { readKey, removeDisallowed, type TaggedDestination } from '../keys/read-key.ts';
import { getDestinationId, type SealedDestinations } from '../keys/sealed-destinations.ts';
import type { StoredConfiguration } from '../store/configurations.ts';
import { countRatedSince, findLastAcceptedAt } from '../store/delivery-plans.ts';
import type { NotifyStores } from '../store/stores.ts';

export interface AggregatorLimits {
  /** Current values of the live settings. */
  readonly current: {
    /** Maximum time in ms that a caller waits for the first attempts. */
    readonly answerMs: number;
    /** Maximum number of waiting deliveries; above it, notifications are refused. */
    readonly maxWaiting: number;
  };
  /** Returns false for destinations that the settings do not allow. */
  readonly isAllowed: IsAllowed;
}

interface AggregatorCollaborators {
  readonly stores: NotifyStores;
  readonly deliveries: Deliveries;
  readonly engine: EngineDestinations;
  readonly sealed: SealedDestinations;
}

/** Maximum wait of a strict call: the maximum duration of an attempt and a reserve. */
const strictTimeoutMs = 65_000;

/** Maximum age of the cached number of waiting deliveries. */
const countMaxAgeMs = 1000;

/** Accepts notifications, selects their destinations and commits one delivery for each. */
export class Aggregator {
  readonly #context: Context;
  readonly #stores: NotifyStores;
  readonly #deliveries: Deliveries;
  readonly #engine: EngineDestinations;
  readonly #sealed: SealedDestinations;
  readonly #limits: AggregatorLimits;
  #parsedKeys = new WeakMap<StoredConfiguration, Key>();
  readonly #wallClock = createWallClock();
  #waitingCount = { at: -Infinity, waiting: 0 };

  constructor(
    context: Context,
    { stores, deliveries, engine, sealed }: AggregatorCollaborators,
    limits: AggregatorLimits,
  ) {
    this.#context = context;
    this.#stores = stores;
    this.#deliveries = deliveries;
    this.#engine = engine;
    this.#sealed = sealed;
    this.#limits = limits;
  }

  /** Clears the cache of parsed keys. Changed settings may allow other destinations. */
  clearKeyCache(): void {
    this.#parsedKeys = new WeakMap();
  }

  /** Returns a parsed key, or undefined if it does not exist. Each stored text is parsed once. */
  async find(key: string): Promise<Key | undefined> {
    const configuration = await this.#stores.configurations.find(key);
    if (configuration === undefined) return undefined;
    const cachedKey = this.#parsedKeys.get(configuration);
    const isWaitingForEngine = cachedKey?.skipped.some(({ needsEngine }) => needsEngine === true) ?? false;
    if (cachedKey !== undefined && !(isWaitingForEngine && (await this.#engine.isInstalled()))) return cachedKey;
    const { options, secret } = configuration;
    // The parsed key is cached, so the reasons for skipped lines must not be in the language of the first reader.
    const parsed = await runInEnglish(async () =>
      removeDisallowed(await readKey(configuration, this.#engine), this.#limits.isAllowed),
    );
    const parsedKey = { ...parsed, options, secret };
    this.#parsedKeys.set(configuration, parsedKey);
    return parsedKey;
  }

  /**
   * Accepts the notification of a caller. Resolves after the durable commit and the first attempts of the deliveries
   * that need not wait for others, or after the time limit. Returns an empty list, and stores nothing, if no
   * destination matches.
   */
  async post(
    configuration: string,
    destinations: readonly (TaggedDestination & CallOptions)[],
    notification: NotificationContent,
    call: { readonly files?: readonly StoredFile[]; readonly hops?: number; readonly options?: NotifyKeyOptions } = {},
  ): Promise<readonly Outcome[]> {
    const selections = collectSelections(destinations);
    if (selections.size === 0) return [];
    await this.#refuseWhenFull();
    const id = createSortableId(this.#context.random, this.#context.clock.now());
    const strict = call.options?.strict === true;
    const plannedDeliveries = await this.#plan(selections, notification.type);
    const deliveryLevels = planDeliveryLevels(this.#sealed, id, plannedDeliveries, strict);
    const expectedDeliveries = deliveryLevels.immediate.map(({ row: { destinationId, service, optional }, job }) => {
      const predecessors = job.orderKey === undefined ? 'nothing' : this.#deliveries.getPredecessors(destinationId);
      const waitsFor = job.runAt === undefined ? predecessors : 'rules';
      return { id: destinationId, service, optional, waitsFor } as const;
    });
    using attempts = this.#deliveries.firstAttempts.start(
      id,
      expectedDeliveries,
      strict ? strictTimeoutMs : this.#limits.current.answerMs,
    );
    const accepted = await this.#accept(
      id,
      configuration,
      notification,
      { planned: plannedDeliveries, levels: deliveryLevels },
      call,
    );
    if (typeof accepted === 'string') return [{ service: '', state: 'repeated', optional: false, detail: accepted }];
    // The result is awaited here because the disposal at the end of this block removes the notification.
    return await attempts.settled();
  }

  /**
   * Accepts a notification from another service. A key that was accepted before is ignored. If no destination has the
   * tag, the notification goes to the inbox, because there is no caller to report the error to.
   *
   * @throws Problem `notify.unknown_configuration` (404), `notify.bad_tag` (400), `notify.bad_url` (400), all final.
   */
  async acceptOffer(offer: NotificationOffer, key: string): Promise<void> {
    const { configuration } = offer;
    if (offer.urls !== undefined) {
      return this.#acceptOffer(key, '', offer, await selectUrls(offer.urls, this.#engine), undefined);
    }
    const parsedKey = await this.find(configuration);
    if (parsedKey === undefined) {
      throw new Problem('notify.unknown_configuration', 404, () => m.offerUnknownKey({ key: configuration }));
    }
    const field = parseTagField(offer.tag);
    if (field.kind === 'invalid') throw new Problem('notify.bad_tag', 400, m.offeredTagInvalid);
    const selections: Map<string, Selection> = collectSelections(
      selectDeliveries(parsedKey, field.kind === 'none' ? undefined : field.expression),
    );
    if (selections.size === 0) {
      this.#context.log.warn('no destination for tag, using inbox', { configuration });
      const inbox = parseDestination('inbox://');
      if (typeof inbox !== 'string') selections.set(getDestinationId(inbox), { destination: inbox, rules: noRules });
    }
    await this.#acceptOffer(key, configuration, offer, selections, parsedKey.options);
  }

  async #acceptOffer(
    key: string,
    configuration: string,
    { files = [], notice: content }: NotificationOffer,
    selections: ReadonlyMap<string, Selection>,
    options: NotifyKeyOptions | undefined,
  ): Promise<void> {
    const storedFiles: StoredFile[] = [];
    let isNew = false;
    try {
      for (const [index, { name, type, bytes }] of files.entries()) {
        const file = await this.#stores.folder.write(Readable.from([bytes]), { name, type, index }, Infinity);
        if (file !== undefined) storedFiles.push(file);
      }
      const plannedDeliveries = await this.#plan(selections, content.type);
      // No caller waits for the result, so the call is never strict.
      const deliveryLevels = planDeliveryLevels(this.#sealed, key, plannedDeliveries, false);
      const call = { files: storedFiles, ...(options === undefined ? {} : { options }) };
      isNew =
        (await this.#accept(
          key,
          configuration,
          content,
          { planned: plannedDeliveries, levels: deliveryLevels },
          call,
        )) === true;
    } finally {
      if (!isNew) await this.#stores.folder.remove(storedFiles.map(({ file }) => file));
    }
  }

  /** Computes the time of each delivery. Simultaneous calls can exceed a rate limit. */
  async #plan(
    selections: ReadonlyMap<string, Selection>,
    type: NotificationContent['type'],
  ): Promise<readonly PlannedDelivery[]> {
    const now = this.#context.clock.now();
    const plans = [...selections].map(async ([delivery, { destination, rules, chainLevel, retries }]) => {
      const { rate } = rules;
      const sentCount =
        rate === undefined ? 0 : await countRatedSince(this.#context.db, delivery, windowStart(rate.windowMs, now));
      const plan = planDelivery(rules, type, sentCount, now, this.#wallClock);
      return { delivery, destination, chainLevel, retries, plan, countsAgainstRate: rate !== undefined };
    });
    return Promise.all(plans);
  }

  /**
   * Returns true after the notification was stored, false if its ID already exists, and a sentence if it repeats a
   * recent one.
   */
  async #accept(
    id: string,
    configuration: string,
    content: NotificationContent,
    {
      planned: plannedDeliveries,
      levels: deliveryLevels,
    }: { readonly planned: readonly PlannedDelivery[]; readonly levels: DeliveryLevels },
    { files = [], hops = 0, options }: Parameters<Aggregator['post']>[3] & {} = {},
  ): Promise<boolean | string> {
    const { bus, clock, commit, jobs } = this.#context;
    const message = buildMessage(id, content, clock.now(), hops);
    const deliveries = deliveryLevels.immediate.map(({ row }) => row);
    const repeatMs = (options?.repeatSeconds ?? 0) * 1000;
    const fingerprint =
      repeatMs === 0 || files.length > 0 ? undefined : computeFingerprint(configuration, message, plannedDeliveries);
    const immediateIds = new Set(
      deliveryLevels.immediate.flatMap(({ row, job }) =>
        (row.digest ?? job.runAt) === undefined ? [row.destinationId] : [],
      ),
    );
    const immediate = plannedDeliveries.filter(({ delivery }) => immediateIds.has(delivery));
    this.#deliveries.recentCache.add(
      message,
      files.length,
      new Map(immediate.map((each) => [each.delivery, each.destination])),
    );
    const accept = async (transaction: Kysely<any>): Promise<boolean | string> => {
      if (fingerprint !== undefined) {
        const lastAcceptedAt = await findLastAcceptedAt(transaction, fingerprint, message.time - repeatMs);
        const seconds = lastAcceptedAt === undefined ? 0 : Math.ceil((message.time - lastAcceptedAt) / 1000);
        if (lastAcceptedAt !== undefined)
          return `The same notification was sent ${String(seconds)} s ago; it is not repeated.`;
      }
      const metadata = { files: files.length, fingerprint };
      if (!(await this.#stores.notifications.add(transaction, configuration, message, deliveries, metadata)))
        return false;
      await this.#stores.attachments.add(transaction, id, files);
      await enqueueDeliveries(transaction, jobs, id, deliveryLevels);
      return true;
    };
    let accepted: boolean | string = false;
    try {
      accepted = await commit(accept);
    } finally {
      if (accepted !== true) this.#deliveries.recentCache.delete(id);
    }
    if (accepted !== true) return accepted;
    this.#waitingCount.waiting += deliveries.length;
    for (const { destinationId } of deliveries)
      if (!immediateIds.has(destinationId)) this.#stores.health.record(destinationId, 'waiting', '');
    const queuedIds = deliveryLevels.immediate.flatMap(({ row, job }) =>
      job.orderKey === undefined || job.runAt !== undefined ? [] : [row.destinationId],
    );
    await this.#deliveries.handleNewDeliveries(queuedIds);
    bus.publish(notificationAccepted, { id, configuration, title: message.title, destinations: deliveries.length });
    return true;
  }

  async #refuseWhenFull(): Promise<void> {
    const now = this.#context.clock.now();
    if (now - this.#waitingCount.at > countMaxAgeMs) {
      this.#waitingCount = { at: now, waiting: await this.#stores.notifications.countWaiting() };
    }
    if (this.#waitingCount.waiting < this.#limits.current.maxWaiting) return;
    throw new Problem('notify.outbox_full', 503, m.queueFull, {
      headers: { 'Retry-After': '60' },
    });
  }
}
