import { Problem } from '../../contracts/problem.ts';
import type { Accounts } from '../../contracts/accounts.ts';
import type { Clock, Histogram, Random } from '../../contracts/service.ts';
import type { Draft, Event } from '../domain/message.ts';
import { parsePublication, type Body } from '../domain/publication.ts';
import { refuse } from '../domain/refusals.ts';
import { isTopic, requireTopic } from '../domain/topics.ts';
import type { KnownTopics } from '../known-topics.ts';
import type { Limits } from '../limits.ts';
import type { Publisher } from '../publisher.ts';
import { jsonParameters, PublishJson } from '../wire/publish-json.ts';
import { readBody } from './body.ts';
import { answer, parametersOf, type Exchange } from './exchange.ts';

export interface PublishParts {
  readonly publisher: Publisher;
  readonly accounts: Accounts;
  readonly random: Random;
  readonly reserved: ReadonlySet<string>;
  /** Bytes. */
  readonly messageSizeLimit: number;
  /** Takes the seconds from a message's arrival to its commit. */
  readonly took: Histogram;
  readonly clock: Clock;
  readonly limits: Pick<Limits, 'message'>;
  readonly topics: Pick<KnownTopics, 'use'>;
}

/** The routes that publish. */
export interface PublishRoutes {
  /** POST or PUT `/<topic>[/<sequence id>]`, GET `/<topic>/publish|send|trigger`. */
  message(exchange: Exchange, topic: string, sequenceId?: string): Promise<void>;
  /** POST or PUT `/` with a JSON body. */
  json(exchange: Exchange): Promise<void>;
  /** DELETE `/<topic>/<sequence id>` and its like: an event that clears or deletes a notification at the clients. */
  event(exchange: Exchange, event: Event, topic: string, sequenceId: string): Promise<void>;
}

export function publishRoutes(parts: PublishParts): PublishRoutes {
  const { publisher, accounts, random, reserved, messageSizeLimit, took, clock, limits, topics } = parts;
  const newActionId = (): string => random.text(10);

  const allow = (exchange: Exchange, text: unknown): string => {
    const topic = requireTopic(text, reserved);
    if (!accounts.may(exchange.identity, 'push', 'write', topic)) throw refuse('forbidden');
    topics.use(exchange, [topic]);
    return topic;
  };

  const publish = async (exchange: Exchange, draft: Draft): Promise<void> => {
    const { response } = exchange;
    if (draft.event === 'message') limits.message(exchange);
    const began = clock.now();
    const envelope = await publisher.publish(draft);
    took.observe((clock.now() - began) / 1000);
    // Undefined is for keys, and a request has none.
    if (envelope !== undefined) answer(response, 200, envelope.frame('json'));
  };

  return {
    async message(exchange, text, sequenceId) {
      const topic = allow(exchange, text);
      const body = await readBody(exchange.request, messageSizeLimit);
      await publish(exchange, parsePublication({ topic, sequenceId, read: exchange.read, body, newActionId }));
    },

    async json(exchange) {
      const body = await readBody(exchange.request, 2 * messageSizeLimit);
      if (body.long) throw refuse('json_too_large');
      const json = parseJson(body);
      const topic = allow(exchange, json.topic);
      const read = parametersOf(exchange.request, exchange.query, jsonParameters(json));
      const text = json.message ?? '';
      const message: Body = {
        text,
        base64: () => Buffer.from(text).toString('base64'),
        long: Buffer.byteLength(text) >= messageSizeLimit,
      };
      await publish(exchange, parsePublication({ topic, read, body: message, newActionId }));
    },

    async event(exchange, event, text, sequenceId) {
      const topic = allow(exchange, text);
      if (!isTopic(sequenceId)) throw refuse('sequence_invalid');
      await publish(exchange, { event, topic, sequenceId, cached: true });
    },
  };
}

function parseJson(body: Body): PublishJson {
  try {
    const parsed = PublishJson.safeParse(JSON.parse(body.text ?? ''));
    if (parsed.success) return parsed.data;
    throw refuse('json_invalid');
  } catch (cause) {
    throw cause instanceof Problem ? cause : refuse('json_invalid', undefined, { cause });
  }
}
