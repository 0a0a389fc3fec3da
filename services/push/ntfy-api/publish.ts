import type { IncomingMessage } from 'node:http';
import type { Outside } from '../subscribe/file-addresses.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Accounts } from '../../contracts/control/accounts.ts';
import type { Clock, Random } from '../../contracts/service.ts';
import type { Histogram } from '../../contracts/metrics.ts';
import type { Attachments } from '../attachments/attachments.ts';
import type { Draft, Event } from '../domain/message.ts';
import { fileMessage, parsePublication, type Asked } from '../domain/publication.ts';
import { refuse } from '../domain/refusals.ts';
import type { MessageTemplate } from '../domain/template/built-in.ts';
import { templateBodyLimit } from '../domain/template/render.ts';
import { isTopic, isUnifiedPushTopic, requireTopic } from '../domain/topics.ts';
import type { ActiveTopics } from '../topics/active-topics.ts';
import type { Limits } from '../access/limits.ts';
import { secretId } from '../publish/message-ids.ts';
import type { Publisher } from '../publish/publisher.ts';
import { jsonParameters, PublishJson } from '../wire/publish-json.ts';
import type { RateVisitors } from '../access/subscriber-rate-limits.ts';
import { surroundingsOf } from '../publish/templates.ts';
import { declaredCharset, decodeText } from '../../kit/charset.ts';
import { bodyOf, readBody, type ReadBody } from './body.ts';
import { parseLeadingJson } from './leading-json.ts';
import { answer, parametersOf, type Exchange } from './exchange.ts';

export interface PublishParts {
  readonly publisher: Publisher;
  readonly attachments: Attachments;
  /** Whether messages may go out as mail. */
  readonly sendsMail: () => boolean;
  readonly findTemplate: (asked: string) => Promise<MessageTemplate | 'inline' | undefined>;
  readonly accounts: Accounts;
  readonly random: Random;
  readonly reserved: ReadonlySet<string>;
  /** Bytes. */
  readonly messageSizeLimit: () => number;
  /** Seconds that a message may be put off. */
  readonly longestDelay: () => number;
  /** Application servers may publish to topics of UnifiedPush without an account. */
  readonly unifiedPush: () => boolean;
  /** Takes the seconds from a message's arrival to its commit. */
  readonly took: Histogram;
  readonly clock: Clock;
  readonly limits: Pick<Limits, 'nameOf' | 'message' | 'email' | 'attachmentTotal' | 'bandwidthLeft' | 'bandwidth'>;
  readonly topics: Pick<ActiveTopics, 'use'>;
  readonly rates: Pick<RateVisitors, 'of' | 'isWaiting'>;
  /** Where a sender gets files, if not where kept messages say. */
  readonly outside: (request: IncomingMessage) => Outside | undefined;
}

/** The routes that publish. */
export interface PublishRoutes {
  /** POST or PUT `/<topic>[/<sequence id>]`, GET `/<topic>/publish|send|trigger`. */
  message(exchange: Exchange, topic: string, sequenceId?: string): Promise<void>;
  /** POST or PUT `/` with a JSON body. */
  json(exchange: Exchange): Promise<void>;
  /** DELETE `/<topic>/<sequence id>` and its like: an event that clears or deletes a notification at the clients. */
  event(exchange: Exchange, event: Event, topic: string, sequenceId: string): Promise<void>;
  /** Publishes a text as it came, as an application server does for a Matrix client. */
  gateway(exchange: Exchange, topic: string, text: Buffer): Promise<void>;
}

/** ms that a message's templates may run. */
const templateTime = 100;

export function publishRoutes(parts: PublishParts): PublishRoutes {
  const { publisher, attachments, accounts, random, reserved, messageSizeLimit, took, clock, limits, topics, rates } =
    parts;
  const newActionId = (): string => random.text(10);
  const surroundings = surroundingsOf(clock);

  const allow = (exchange: Exchange, text: unknown): string => {
    const topic = requireTopic(text, reserved);
    const open = parts.unifiedPush() && isUnifiedPushTopic(topic);
    if (!open && !accounts.may(exchange.identity, 'push', 'write', topic)) throw refuse('forbidden');
    topics.use(exchange, [topic]);
    return topic;
  };

  const commit = async (exchange: Exchange, draft: Draft, id?: string): Promise<string | undefined> => {
    if (draft.event === 'message') limits.message(exchange, rates.of(draft.topic, exchange));
    if (draft.email !== undefined) limits.email(exchange);
    const began = clock.now();
    const asked = draft.due === undefined ? draft : { ...draft, account: exchange.identity?.account };
    const envelope = await publisher.publish(asked, undefined, id);
    took.observe((clock.now() - began) / 1000);
    // Undefined is for keys, and a request has none.
    return envelope?.seenFrom(parts.outside(exchange.request)).text;
  };
  const publish = async (exchange: Exchange, draft: Draft, id?: string): Promise<void> => {
    const text = await commit(exchange, draft, id);
    // As a text it leaves in one piece with the headers.
    if (text !== undefined) answer(exchange.response, 200, `${text}\n`);
  };

  const parse = (
    { identity, address }: Exchange,
    topic: string,
    read: Exchange['read'],
    body: ReadBody,
    rest: { sequenceId?: string | undefined; template?: MessageTemplate | 'inline' | undefined } = {},
  ): Asked => {
    const now = clock.now();
    const asked = parsePublication({
      ...rest,
      topic,
      read,
      body,
      now,
      newActionId,
      longestDelay: parts.longestDelay(),
      messageSizeLimit: messageSizeLimit(),
      keepsFiles: attachments.enabled,
      mail: { enabled: parts.sendsMail(), isKnown: identity !== undefined, sender: address },
      expired: () => clock.now() - now > templateTime,
      surroundings,
    });
    if (asked.isUnifiedPush === true && rates.isWaiting(topic)) throw refuse('unified_push_unheard');
    return asked;
  };

  const publishFile = async (exchange: Exchange, { draft, upload = '' }: Asked, head: Buffer): Promise<void> => {
    const { request } = exchange;
    const id = secretId(parts);
    const sender = limits.nameOf(exchange);
    const quota = limits.attachmentTotal(exchange);
    const traffic = limits.bandwidthLeft(exchange);
    const messageExpires = publisher.expiryOf(draft, draft.due ?? Math.floor(clock.now() / 1000));
    const { due } = draft;
    const { attachment, file, room } = await attachments.receive({
      ...{ request, id, name: upload, head, sender, quota, traffic, messageExpires, due },
    });
    using _room = room;
    try {
      limits.bandwidth(exchange, file.size);
      const message = draft.message || fileMessage(file.name);
      const inbox = draft.inbox && { ...draft.inbox, body: message };
      await publish(exchange, { ...draft, attachment, file, message, inbox }, id);
    } catch (error) {
      await attachments.discard([id]);
      throw error;
    }
  };

  return {
    async message(exchange, text, sequenceId) {
      const { request, read } = exchange;
      const topic = allow(exchange, text);
      const asked = read('x-template', 'template', 'tpl');
      const template = asked === '' ? undefined : await parts.findTemplate(asked);
      const limit = template === undefined ? messageSizeLimit() : templateBodyLimit;
      attachments.admit(request, limit);
      const body = await readBody(request, limit, declaredCharset(textType(request)));
      if (template !== undefined && body.long) throw refuse('json_too_large');
      const publication = parse(exchange, topic, read, body, { sequenceId, template });
      if (publication.upload !== undefined) return publishFile(exchange, publication, body.bytes);
      await publish(exchange, publication.draft);
    },

    async json(exchange) {
      const { request } = exchange;
      const body = await readBody(request, 2 * messageSizeLimit());
      if (body.long) throw refuse('json_too_large');
      const json = parseJson(body, declaredCharset(request.headers['content-type']));
      const topic = allow(exchange, json.topic);
      const read = parametersOf(request, exchange.query, jsonParameters(json));
      const asked = read('x-template', 'template', 'tpl');
      const template = asked === '' ? undefined : await parts.findTemplate(asked);
      const message = bodyOf(Buffer.from(json.message ?? ''), messageSizeLimit());
      const publication = parse(exchange, topic, read, message, { template });
      if (publication.upload !== undefined) return publishFile(exchange, publication, message.bytes);
      await publish(exchange, publication.draft);
    },

    async event(exchange, event, text, sequenceId) {
      const topic = allow(exchange, text);
      if (!isTopic(sequenceId)) throw refuse('sequence_invalid');
      await publish(exchange, { event, topic, sequenceId, cached: true });
    },

    async gateway(exchange, text, bytes) {
      const topic = allow(exchange, text);
      const { draft } = parse(exchange, topic, unifiedPushOnly, bodyOf(bytes, messageSizeLimit()));
      await commit(exchange, draft);
    },
  };
}

/** Returns the Content-Type of a request that says that its body is text. */
function textType({ headers }: IncomingMessage): string | undefined {
  const type = headers['content-type'];
  return type !== undefined && /^text\//i.test(type) ? type : undefined;
}

/** Of all parameters the one that says so. */
function unifiedPushOnly(...names: readonly string[]): string {
  return names.includes('up') ? '1' : '';
}

function parseJson(body: ReadBody, charset: string | undefined): PublishJson {
  try {
    const parsed = PublishJson.safeParse(parseLeadingJson(decodeText(body.bytes, charset)));
    if (parsed.success) return parsed.data;
    throw refuse('json_invalid');
  } catch (cause) {
    throw cause instanceof Problem ? cause : refuse('json_invalid', undefined, { cause });
  }
}
