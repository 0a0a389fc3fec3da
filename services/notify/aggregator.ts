import { noticeAccepted, type Notice, type NoticeOffer } from '../contracts/notice.ts';
import type { NotifyKeyOptions } from '../contracts/notify-options.ts';
import { Problem } from '../contracts/problem.ts';
import type { Context } from '../contracts/service.ts';
import { deliver, urlPurpose, type Deliveries } from './deliveries.ts';
import { destinationId, parseDestination } from './destinations/catalogue.ts';
import type { Destination } from './destinations/destination.ts';
import type { Message } from './domain/message.ts';
import { parseTagField, selectDestinations, type TagExpression } from './domain/tags.ts';
import type { FirstAttempts, Outcome } from './first-attempts.ts';
import { readKey, type Entry, type ReadKey, type TaggedDestination } from './read-key.ts';
import type { ConfigurationStore, StoredConfiguration } from './store/configurations.ts';
import type { NoticeStore } from './store/notices.ts';

/** A key as it is used: what it amounts to and what its owner chose for it. */
export interface Key extends ReadKey {
  readonly options: NotifyKeyOptions;
}

export interface AggregatorLimits {
  /** How long a caller waits for the first attempts, in ms. */
  readonly answerMs: number;
  /** Deliveries that may wait before new notices are refused. */
  readonly maxWaiting: number;
}

/** How long a count of the waiting deliveries is believed. */
const countAgeMs = 1000;

/** Takes notices, chooses their destinations and commits one delivery each. */
export class Aggregator {
  readonly #context: Context;
  readonly #configurations: ConfigurationStore;
  readonly #notices: NoticeStore;
  readonly #deliveries: Deliveries;
  readonly #firstAttempts: FirstAttempts;
  readonly #limits: AggregatorLimits;
  readonly #parsed = new WeakMap<StoredConfiguration, Key>();
  #counted = { at: -Infinity, waiting: 0 };

  constructor(
    context: Context,
    parts: {
      readonly configurations: ConfigurationStore;
      readonly notices: NoticeStore;
      readonly deliveries: Deliveries;
      readonly firstAttempts: FirstAttempts;
    },
    limits: AggregatorLimits,
  ) {
    this.#context = context;
    this.#configurations = parts.configurations;
    this.#notices = parts.notices;
    this.#deliveries = parts.deliveries;
    this.#firstAttempts = parts.firstAttempts;
    this.#limits = limits;
  }

  /** What a key amounts to; undefined when there is no such key. Parsed once per stored text. */
  async find(key: string): Promise<Key | undefined> {
    const configuration = await this.#configurations.find(key);
    if (configuration === undefined) return undefined;
    const known = this.#parsed.get(configuration);
    if (known !== undefined) return known;
    const read = { ...readKey(configuration), options: configuration.options };
    this.#parsed.set(configuration, read);
    return read;
  }

  /**
   * Sends a notice someone posted. Resolves after the durable commit and the first attempts, or the time they are given.
   * An empty list means that there was no destination, and nothing was kept.
   */
  async post(
    configuration: string,
    destinations: readonly TaggedDestination[],
    notice: Notice,
  ): Promise<readonly Outcome[]> {
    const chosen = chooseParts(destinations);
    if (chosen.size === 0) return [];
    await this.#refuseWhenFull();
    const id = this.#context.random.text(20);
    const expected = [...chosen].map(([delivery, destination]) => ({
      id: delivery,
      service: destination.service,
      optional: destination.optional,
      held: this.#deliveries.isFailing(delivery),
    }));
    using attempts = this.#firstAttempts.expect(id, expected, this.#limits.answerMs);
    await this.#accept(id, configuration, notice, chosen);
    // Awaited here: the disposal at the end of this block forgets the notice.
    return await attempts.settled();
  }

  /**
   * Takes a notice another part of the app hands over. A key seen before is ignored; a tag nobody wears leads to the
   * inbox, since there is no caller who could be told.
   * @throws Problem `notify.unknown_configuration` (404), `notify.bad_tag` (400), `notify.bad_url` (400), all final.
   */
  async take(offer: NoticeOffer, key: string): Promise<void> {
    const { configuration, notice } = offer;
    if (offer.urls !== undefined) return this.#accept(key, '', notice, namedBy(offer.urls));
    const known = await this.find(configuration);
    if (known === undefined) {
      throw new Problem('notify.unknown_configuration', 404, `There is no notification key ${configuration}.`);
    }
    const field = parseTagField(offer.tag);
    if (field.kind === 'invalid') throw new Problem('notify.bad_tag', 400, 'The tag expression is not valid.');
    const chosen = chooseParts(chosenOf(known, field.kind === 'none' ? undefined : field.expression));
    if (chosen.size === 0) {
      this.#context.log.warn('no destination wears the tag, so the notice goes to the inbox', { configuration });
      const inbox = parseDestination('inbox://');
      if (typeof inbox !== 'string') chosen.set(destinationId(inbox), inbox);
    }
    await this.#accept(key, configuration, notice, chosen);
  }

  async #accept(
    id: string,
    configuration: string,
    notice: Notice,
    chosen: ReadonlyMap<string, Destination>,
  ): Promise<void> {
    const { bus, clock, commit, jobs, vault } = this.#context;
    const message: Message = {
      id,
      title: withoutNul(notice.title),
      body: withoutNul(notice.body),
      type: notice.type,
      format: notice.format,
      tags: notice.tags,
      link: notice.link,
      source: notice.source,
      time: clock.now(),
    };
    const deliveries = [...chosen].map(([delivery, destination]) => ({
      destinationId: delivery,
      service: destination.service,
      sealedUrl: vault.seal(destination.url(false), urlPurpose),
      shownUrl: destination.url(true),
      optional: destination.optional,
    }));
    const isNew = await commit(async (transaction) => {
      if (!(await this.#notices.add(transaction, configuration, message, deliveries))) return false;
      await jobs.enqueueAll(
        transaction,
        deliver,
        deliveries.map((delivery) => ({
          payload: { notice: id, destination: delivery.destinationId },
          key: `${id}:${delivery.destinationId}`,
          orderKey: delivery.destinationId,
        })),
      );
      return true;
    });
    if (!isNew) return;
    this.#counted.waiting += deliveries.length;
    bus.publish(noticeAccepted, { id, configuration, title: message.title, destinations: deliveries.length });
  }

  async #refuseWhenFull(): Promise<void> {
    const now = this.#context.clock.now();
    if (now - this.#counted.at > countAgeMs) {
      this.#counted = { at: now, waiting: await this.#notices.countWaiting() };
    }
    if (this.#counted.waiting < this.#limits.maxWaiting) return;
    throw new Problem('notify.outbox_full', 503, 'Too many notifications wait for their destinations.', {
      headers: { 'Retry-After': '60' },
    });
  }
}

/** The destinations of a key a call reaches. */
export function chosenOf(key: Key, expression: TagExpression | undefined): readonly Entry[] {
  return selectDestinations(key.entries, expression, key.options.withoutTag);
}

/** By id, so that a destination that is matched twice gets one message. */
function chooseParts(chosen: readonly TaggedDestination[]): Map<string, Destination> {
  const parts = chosen.flatMap(({ destination }) => destination.parts ?? [destination]);
  return new Map(parts.map((part) => [destinationId(part), part]));
}

/** PostgreSQL takes no NUL in text, and nobody can read one. */
function withoutNul(text: string): string {
  return text.replaceAll('\u0000', '');
}

/** By id, what addresses stand for. @throws Problem `notify.bad_url` (400) */
function namedBy(urls: readonly string[]): Map<string, Destination> {
  const parts = urls.flatMap((url) => {
    const destination = parseDestination(url);
    if (typeof destination !== 'string') return destination.parts ?? [destination];
    throw new Problem('notify.bad_url', 400, `The destination cannot be used: ${destination}`);
  });
  return new Map(parts.map((part) => [destinationId(part), part]));
}
