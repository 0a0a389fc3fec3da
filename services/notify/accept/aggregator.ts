import { Readable } from 'node:stream';
import type { Kysely } from 'kysely';
import { createWallClock } from '../../contracts/quiet-hours.ts';
import {
  notificationAccepted,
  type NotificationContent,
  type NotificationOffer,
} from '../../contracts/notify/notification.ts';
import type { NotifyKeyOptions } from '../../contracts/notify/options.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { createSortableId } from '../../kit/sortable-id.ts';
import type { AttachmentFolder, StoredFile } from '../attachments/folder.ts';
import {
  selectParts,
  selectDeliveries,
  fingerprintOf,
  messageOf,
  namedBy,
  type Asked,
  type Selection,
  type Key,
  type Planned,
} from './selection.ts';
import type { Deliveries } from '../deliver/deliveries.ts';
import { begin, planLevels, type Levels } from '../deliver/escalation.ts';
import { parseDestination } from '../destinations/catalogue.ts';
import { noRules, planDelivery, windowStart } from '../domain/delivery-rules.ts';
import { parseTagField } from '../domain/tags.ts';
import type { IsServed } from '../destinations/service-filter.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import type { FirstAttempts, Outcome } from '../deliver/first-attempts.ts';
import type { RecentCache } from '../deliver/recent-cache.ts';
import { readKey, servedOnly, type TaggedDestination } from '../keys/read-key.ts';
import { idOf, type SealedDestinations } from '../keys/sealed-destinations.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import type { ConfigurationStore, StoredConfiguration } from '../store/configurations.ts';
import { countSince, lastOf } from '../store/delivery-plans.ts';
import type { HealthStore } from '../store/health.ts';
import type { NoticeStore } from '../store/notifications.ts';

export interface AggregatorLimits {
  /** As the settings say at the moment. */
  readonly now: {
    /** How long a caller waits for the first attempts, in ms. */
    readonly answerMs: number;
    /** Deliveries that may wait before new notices are refused. */
    readonly maxWaiting: number;
  };
  /** Destinations of keys that may be used. */
  readonly isServed: IsServed;
}

/** How long a strict call waits: as long as an attempt may take, and a little. */
const strictMs = 65_000;

/** How long a count of the waiting deliveries is believed. */
const countAgeMs = 1000;

/** Takes notices, chooses their destinations and commits one delivery each. */
export class Aggregator {
  readonly #context: Context;
  readonly #configurations: ConfigurationStore;
  readonly #notices: NoticeStore;
  readonly #attachments: AttachmentStore;
  readonly #folder: AttachmentFolder;
  readonly #deliveries: Deliveries;
  readonly #firstAttempts: FirstAttempts;
  readonly #fresh: RecentCache;
  readonly #sealed: SealedDestinations;
  readonly #limits: AggregatorLimits;
  readonly #engine: EngineDestinations;
  readonly #health: HealthStore;
  #parsed = new WeakMap<StoredConfiguration, Key>();
  readonly #wall = createWallClock();
  #counted = { at: -Infinity, waiting: 0 };

  constructor(
    context: Context,
    parts: {
      readonly configurations: ConfigurationStore;
      readonly notices: NoticeStore;
      readonly attachments: AttachmentStore;
      readonly folder: AttachmentFolder;
      readonly deliveries: Deliveries;
      readonly firstAttempts: FirstAttempts;
      readonly engine: EngineDestinations;
      readonly health: HealthStore;
      readonly fresh: RecentCache;
      readonly sealed: SealedDestinations;
    },
    limits: AggregatorLimits,
  ) {
    this.#context = context;
    this.#configurations = parts.configurations;
    this.#notices = parts.notices;
    this.#attachments = parts.attachments;
    this.#folder = parts.folder;
    this.#deliveries = parts.deliveries;
    this.#firstAttempts = parts.firstAttempts;
    this.#engine = parts.engine;
    this.#health = parts.health;
    this.#fresh = parts.fresh;
    this.#sealed = parts.sealed;
    this.#limits = limits;
  }

  /** Reads all keys again when they are asked for next, since the settings may serve other destinations now. */
  forgetKeys(): void {
    this.#parsed = new WeakMap();
  }

  /** What a key amounts to; undefined when there is no such key. Parsed once per stored text. */
  async find(key: string): Promise<Key | undefined> {
    const configuration = await this.#configurations.find(key);
    if (configuration === undefined) return undefined;
    const known = this.#parsed.get(configuration);
    const waits = known?.skipped.some(({ needsEngine }) => needsEngine === true) ?? false;
    if (known !== undefined && !(waits && (await this.#engine.ready()))) return known;
    const { options, secret } = configuration;
    const read = {
      ...servedOnly(await readKey(configuration, this.#engine), this.#limits.isServed),
      options,
      secret,
    };
    this.#parsed.set(configuration, read);
    return read;
  }

  /**
   * Sends a notice someone posted. Resolves after the durable commit and the first attempts of those that stand behind
   * nothing, or the time they are given.
   * An empty list means that there was no destination, and nothing was kept.
   */
  async post(
    configuration: string,
    destinations: readonly (TaggedDestination & Asked)[],
    notice: NotificationContent,
    call: { readonly files?: readonly StoredFile[]; readonly hops?: number; readonly options?: NotifyKeyOptions } = {},
  ): Promise<readonly Outcome[]> {
    const chosen = selectParts(destinations);
    if (chosen.size === 0) return [];
    await this.#refuseWhenFull();
    const id = createSortableId(this.#context.random, this.#context.clock.now());
    const strict = call.options?.strict === true;
    const planned = await this.#plan(chosen, notice.type);
    const levels = planLevels(this.#sealed, id, planned, strict);
    const expected = levels.first.map(({ row: { destinationId: to, service, optional }, job }) => {
      const ahead = job.orderKey === undefined ? 'nothing' : this.#deliveries.aheadOf(to);
      const behind = job.runAt === undefined ? ahead : 'rules';
      return { id: to, service, optional, behind } as const;
    });
    using attempts = this.#firstAttempts.expect(id, expected, strict ? strictMs : this.#limits.now.answerMs);
    const accepted = await this.#accept(id, configuration, notice, { planned, levels }, call);
    if (typeof accepted === 'string') return [{ service: '', state: 'repeated', optional: false, detail: accepted }];
    // Awaited here: the disposal at the end of this block forgets the notice.
    return await attempts.settled();
  }

  /**
   * Takes a notice another part of the app hands over. A key seen before is ignored; a tag nobody wears leads to the
   * inbox, since there is no caller who could be told.
   * @throws Problem `notify.unknown_configuration` (404), `notify.bad_tag` (400), `notify.bad_url` (400), all final.
   */
  async take(offer: NotificationOffer, key: string): Promise<void> {
    const { configuration } = offer;
    if (offer.urls !== undefined) {
      return this.#takeFor(key, '', offer, await namedBy(offer.urls, this.#engine), undefined);
    }
    const known = await this.find(configuration);
    if (known === undefined) {
      throw new Problem('notify.unknown_configuration', 404, `There is no notification key ${configuration}.`);
    }
    const field = parseTagField(offer.tag);
    if (field.kind === 'invalid') throw new Problem('notify.bad_tag', 400, 'The tag expression is not valid.');
    const chosen: Map<string, Selection> = selectParts(
      selectDeliveries(known, field.kind === 'none' ? undefined : field.expression),
    );
    if (chosen.size === 0) {
      this.#context.log.warn('no destination wears the tag, so the notice goes to the inbox', { configuration });
      const inbox = parseDestination('inbox://');
      if (typeof inbox !== 'string') chosen.set(idOf(inbox), { destination: inbox, rules: noRules });
    }
    await this.#takeFor(key, configuration, offer, chosen, known.options);
  }

  async #takeFor(
    key: string,
    configuration: string,
    { files = [], notice }: NotificationOffer,
    chosen: ReadonlyMap<string, Selection>,
    options: NotifyKeyOptions | undefined,
  ): Promise<void> {
    const stored: StoredFile[] = [];
    let isNew = false;
    try {
      for (const [place, { name, type, bytes }] of files.entries()) {
        const file = await this.#folder.write(Readable.from([bytes]), { name, type, place }, Infinity);
        if (file !== undefined) stored.push(file);
      }
      const planned = await this.#plan(chosen, notice.type);
      // Nobody waits for the outcome, so it is never strict.
      const levels = planLevels(this.#sealed, key, planned, false);
      const call = { files: stored, ...(options === undefined ? {} : { options }) };
      isNew = (await this.#accept(key, configuration, notice, { planned, levels }, call)) === true;
    } finally {
      if (!isNew) await this.#folder.remove(stored.map(({ file }) => file));
    }
  }

  /** When each delivery is made. The count of a rate may be passed by calls at the same moment. */
  async #plan(chosen: ReadonlyMap<string, Selection>, type: NotificationContent['type']): Promise<readonly Planned[]> {
    const now = this.#context.clock.now();
    const plans = [...chosen].map(async ([delivery, { destination, rules, standing, retries }]) => {
      const { rate } = rules;
      const sent =
        rate === undefined ? 0 : await countSince(this.#context.db, delivery, windowStart(rate.windowMs, now));
      const plan = planDelivery(rules, type, sent, now, this.#wall);
      return { delivery, destination, standing, retries, plan, rated: rate !== undefined };
    });
    return Promise.all(plans);
  }

  /** True: it was kept. False: its id was there. A sentence: it repeats another one. */
  async #accept(
    id: string,
    configuration: string,
    notice: NotificationContent,
    { planned, levels }: { readonly planned: readonly Planned[]; readonly levels: Levels },
    { files = [], hops = 0, options }: Parameters<Aggregator['post']>[3] & {} = {},
  ): Promise<boolean | string> {
    const { bus, clock, commit, jobs } = this.#context;
    const message = messageOf(id, notice, clock.now(), hops);
    const deliveries = levels.first.map(({ row }) => row);
    const repeatMs = (options?.repeatSeconds ?? 0) * 1000;
    const fingerprint = repeatMs === 0 || files.length > 0 ? undefined : fingerprintOf(configuration, message, planned);
    const alone = new Set(
      levels.first.flatMap(({ row, job }) => ((row.digest ?? job.runAt) === undefined ? [row.destinationId] : [])),
    );
    const fresh = planned.filter(({ delivery }) => alone.has(delivery));
    this.#fresh.keep(message, files.length, new Map(fresh.map((each) => [each.delivery, each.destination])));
    const accept = async (transaction: Kysely<any>): Promise<boolean | string> => {
      if (fingerprint !== undefined) {
        const last = await lastOf(transaction, fingerprint, message.time - repeatMs);
        const seconds = last === undefined ? 0 : Math.ceil((message.time - last) / 1000);
        if (last !== undefined) return `The same notification was sent ${String(seconds)} s ago; it is not repeated.`;
      }
      const more = { files: files.length, fingerprint };
      if (!(await this.#notices.add(transaction, configuration, message, deliveries, more))) return false;
      await this.#attachments.add(transaction, id, files);
      await begin(transaction, jobs, id, levels);
      return true;
    };
    let accepted: boolean | string = false;
    try {
      accepted = await commit(accept);
    } finally {
      if (accepted !== true) this.#fresh.forget(id);
    }
    if (accepted !== true) return accepted;
    this.#counted.waiting += deliveries.length;
    for (const { destinationId } of deliveries)
      if (!alone.has(destinationId)) this.#health.note(destinationId, 'waiting', '');
    const inLine = levels.first.flatMap(({ row, job }) =>
      job.orderKey === undefined || job.runAt !== undefined ? [] : [row.destinationId],
    );
    await this.#deliveries.came(inLine);
    bus.publish(notificationAccepted, { id, configuration, title: message.title, destinations: deliveries.length });
    return true;
  }

  async #refuseWhenFull(): Promise<void> {
    const now = this.#context.clock.now();
    if (now - this.#counted.at > countAgeMs) {
      this.#counted = { at: now, waiting: await this.#notices.countWaiting() };
    }
    if (this.#counted.waiting < this.#limits.now.maxWaiting) return;
    throw new Problem('notify.outbox_full', 503, 'Too many notifications wait for their destinations.', {
      headers: { 'Retry-After': '60' },
    });
  }
}
