import { noticeAccepted, type Notice, type NoticeOffer } from '../contracts/notice.ts';
import { Problem } from '../contracts/problem.ts';
import type { Context } from '../contracts/service.ts';
import { deliver, urlPurpose, type Deliveries } from './deliveries.ts';
import { destinationId, parseDestination } from './destinations/catalogue.ts';
import type { Destination } from './destinations/destination.ts';
import { parseTextConfiguration } from './domain/configuration.ts';
import type { Message } from './domain/message.ts';
import { parseTagField, selectDestinations, type Tag, type TagExpression } from './domain/tags.ts';
import type { FirstAttempts, Outcome } from './first-attempts.ts';
import type { ConfigurationStore, StoredConfiguration } from './store/configurations.ts';
import type { NoticeStore } from './store/notices.ts';

/** A destination with the tags it wears in its configuration. */
export interface TaggedDestination {
  readonly destination: Destination;
  readonly tags: readonly Tag[];
}

/** What a configuration amounts to. `skipped` says which lines do nothing and why. */
export interface Destinations {
  readonly destinations: readonly TaggedDestination[];
  readonly skipped: readonly { readonly line: number; readonly reason: string }[];
}

export interface AggregatorLimits {
  /** How long a caller waits for the first attempts, in ms. */
  readonly answerMs: number;
  /** Deliveries that may wait before new notices are refused. */
  readonly maxWaiting: number;
}

/** Destinations a configuration, or a call that brings its own, may have. */
export const mostDestinations = 1000;

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
  readonly #parsed = new WeakMap<StoredConfiguration, Destinations>();
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

  /** The destinations of a key; undefined when there is no such key. Parsed once per stored text. */
  async destinations(key: string): Promise<Destinations | undefined> {
    const configuration = await this.#configurations.find(key);
    if (configuration === undefined) return undefined;
    const known = this.#parsed.get(configuration);
    if (known !== undefined) return known;
    const destinations = readDestinations(configuration.text);
    this.#parsed.set(configuration, destinations);
    return destinations;
  }

  /**
   * Sends a notice someone posted. Resolves after the durable commit and the first attempts, or the time they are given.
   * An empty list means that nothing was chosen, and nothing was kept.
   */
  async post(
    configuration: string,
    candidates: readonly TaggedDestination[],
    expression: TagExpression | undefined,
    notice: Notice,
  ): Promise<readonly Outcome[]> {
    const chosen = chooseParts(candidates, expression);
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
    const known = await this.destinations(configuration);
    if (known === undefined) {
      throw new Problem('notify.unknown_configuration', 404, `There is no notification key ${configuration}.`);
    }
    const field = parseTagField(offer.tag);
    if (field.kind === 'invalid') throw new Problem('notify.bad_tag', 400, 'The tag expression is not valid.');
    const chosen = chooseParts(known.destinations, field.kind === 'none' ? undefined : field.expression);
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

/** Reads the destinations of a TEXT configuration; what cannot be used is skipped with its reason. */
export function readDestinations(text: string): Destinations {
  const { entries, skipped } = parseTextConfiguration(text);
  const destinations: TaggedDestination[] = [];
  const refused: { line: number; reason: string }[] = [];
  for (const { url, tags, line } of entries) {
    const destination = parseDestination(url);
    if (typeof destination === 'string') refused.push({ line, reason: destination });
    else if (destinations.length < mostDestinations) destinations.push({ destination, tags });
    else refused.push({ line, reason: `only ${mostDestinations} destinations are served` });
  }
  return { destinations, skipped: [...skipped, ...refused].sort((a, b) => a.line - b.line) };
}

/** By id, so that a destination that is matched twice gets one message. */
function chooseParts(
  candidates: readonly TaggedDestination[],
  expression: TagExpression | undefined,
): Map<string, Destination> {
  const chosen = selectDestinations(candidates, expression);
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
