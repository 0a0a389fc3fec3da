import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { FileAddressRewrite } from '../messages/file-addresses.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Histogram } from '../../contracts/metrics.ts';
import type { Draft, Event } from '../domain/message.ts';
import { getFileMessage, parsePublication, type ParsedPublication } from '../domain/publication.ts';
import { refuse } from '../domain/refusals.ts';
import type { MessageTemplate } from '../domain/template/built-in.ts';
import type { TemplateEnvironment } from '../domain/template/run.ts';
import { templateBodyLimit } from '../domain/template/render.ts';
import { isTopic, isUnifiedPushTopic, requireTopic } from '../domain/topics.ts';
import type { Visitors } from '../topics/visitors.ts';
import { createSecretId } from '../publish/message-ids.ts';
import type { Delivery } from '../publish/delivery.ts';
import { toParameters, PublishJson } from '../wire/publish-json.ts';
import type { Settings } from '../settings.ts';
import type { DerivedSettings } from '../settings/derived-settings.ts';
import { createTemplateEnvironment, findTemplate } from '../publish/templates.ts';
import { declaredCharset, decodeText } from '../../kit/charset.ts';
import { toBody, readBody, type ReadBody } from './body.ts';
import { parseLeadingJson } from './leading-json.ts';
import { answer, createParameters, type Exchange } from './exchange.ts';

export interface PublishDependencies {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'files' | 'random'>;
  readonly settings: Readonly<Pick<Settings, 'unifiedPush'>>;
  readonly derivedSettings: DerivedSettings;
  readonly delivery: Pick<Delivery, 'publisher' | 'attachments'>;
  readonly visitors: Visitors;
  /** Returns true when messages can be forwarded as mail. */
  readonly sendsMail: () => boolean;
  /** Observes the seconds from the arrival of a message to its commit. */
  readonly commitSeconds: Histogram;
  /** Returns the rewrite of file addresses for clients that use another address than the stored one. */
  readonly findFileRewrite: (request: IncomingMessage) => FileAddressRewrite | undefined;
}

/** Maximum run time of a message's templates in ms. */
const templateTimeoutMs = 100;

/** Routes that publish. */
export class PublishRoutes {
  readonly #dependencies: PublishDependencies;
  readonly #templateEnvironment: TemplateEnvironment;
  readonly #newActionId: () => string;

  constructor(dependencies: PublishDependencies) {
    const { clock, random } = dependencies.context;
    this.#dependencies = dependencies;
    this.#templateEnvironment = createTemplateEnvironment(clock);
    this.#newActionId = () => random.text(10);
  }

  /** Serves POST or PUT `/<topic>[/<sequence id>]` and GET `/<topic>/publish|send|trigger`. */
  async message(exchange: Exchange, text: string, sequenceId?: string): Promise<void> {
    const { messageSizeLimit } = this.#dependencies.derivedSettings;
    const { attachments } = this.#dependencies.delivery;
    const { request, read } = exchange;
    const topic = this.#requirePublish(exchange, text);
    const templateName = read('x-template', 'template', 'tpl');
    const template = templateName === '' ? undefined : await this.#findTemplate(templateName);
    const limit = template === undefined ? messageSizeLimit() : templateBodyLimit;
    attachments.admit(request, limit);
    const body = await readBody(request, limit, declaredCharset(textType(request)));
    if (template !== undefined && body.isTruncated) throw refuse('json_too_large');
    const publication = this.#parse(exchange, topic, read, body, { sequenceId, template });
    if (publication.upload !== undefined) return this.#publishFile(exchange, publication, body.bytes);
    await this.#publish(exchange, publication.draft);
  }

  /** Serves POST or PUT `/` with a JSON body. */
  async json(exchange: Exchange): Promise<void> {
    const { messageSizeLimit } = this.#dependencies.derivedSettings;
    const { request } = exchange;
    const body = await readBody(request, 2 * messageSizeLimit());
    if (body.isTruncated) throw refuse('json_too_large');
    const json = parseJson(body, declaredCharset(request.headers['content-type']));
    const topic = this.#requirePublish(exchange, json.topic);
    const read = createParameters(request, exchange.query, toParameters(json));
    const templateName = read('x-template', 'template', 'tpl');
    const template = templateName === '' ? undefined : await this.#findTemplate(templateName);
    const message = toBody(Buffer.from(json.message ?? ''), messageSizeLimit());
    const publication = this.#parse(exchange, topic, read, message, { template });
    if (publication.upload !== undefined) return this.#publishFile(exchange, publication, message.bytes);
    await this.#publish(exchange, publication.draft);
  }

  /** Serves DELETE `/<topic>/<sequence id>` and similar routes that clear or delete a notification on clients. */
  async event(exchange: Exchange, event: Event, text: string, sequenceId: string): Promise<void> {
    const topic = this.#requirePublish(exchange, text);
    if (!isTopic(sequenceId)) throw refuse('sequence_invalid');
    await this.#publish(exchange, { event, topic, sequenceId, cached: true });
  }

  /** Publishes an unmodified text for an application server of a Matrix client. */
  async gateway(exchange: Exchange, text: string, bytes: Buffer): Promise<void> {
    const topic = this.#requirePublish(exchange, text);
    const body = toBody(bytes, this.#dependencies.derivedSettings.messageSizeLimit());
    const { draft } = this.#parse(exchange, topic, readUnifiedPushParameter, body);
    await this.#commit(exchange, draft);
  }

  #findTemplate(name: string): Promise<MessageTemplate | 'inline' | undefined> {
    return findTemplate(join(this.#dependencies.context.files, 'templates'), name);
  }

  /** Returns a topic to which the caller may publish. */
  #requirePublish(exchange: Exchange, text: unknown): string {
    const { context, derivedSettings, settings, visitors } = this.#dependencies;
    const topic = requireTopic(text, derivedSettings.reservedTopics);
    const isPublic = settings.unifiedPush && isUnifiedPushTopic(topic);
    if (!isPublic && !context.accounts.may(exchange.identity, 'push', 'write', topic)) throw refuse('forbidden');
    visitors.topics.use(exchange, [topic]);
    return topic;
  }

  #parse(
    { identity, address }: Exchange,
    topic: string,
    read: Exchange['read'],
    body: ReadBody,
    options: { sequenceId?: string | undefined; template?: MessageTemplate | 'inline' | undefined } = {},
  ): ParsedPublication {
    const { sendsMail } = this.#dependencies;
    const { clock } = this.#dependencies.context;
    const { maxDelaySeconds, messageSizeLimit } = this.#dependencies.derivedSettings;
    const { attachments } = this.#dependencies.delivery;
    const now = clock.now();
    const publication = parsePublication({
      ...options,
      topic,
      read,
      body,
      now,
      newActionId: this.#newActionId,
      maxDelaySeconds: maxDelaySeconds(),
      messageSizeLimit: messageSizeLimit(),
      attachmentsEnabled: attachments.enabled,
      mail: { enabled: sendsMail(), hasAccount: identity !== undefined, sender: address },
      isExpired: () => clock.now() - now > templateTimeoutMs,
      environment: this.#templateEnvironment,
    });
    if (
      publication.isUnifiedPush === true &&
      this.#dependencies.visitors.subscriberRateLimits.isAwaitingSubscriber(topic)
    )
      throw refuse('unified_push_unheard');
    return publication;
  }

  async #publish(exchange: Exchange, draft: Draft, id?: string): Promise<void> {
    const text = await this.#commit(exchange, draft, id);
    // Sent in one packet with the headers.
    if (text !== undefined) answer(exchange.response, 200, `${text}\n`);
  }

  /** Charges the limits, publishes the message and returns its text. */
  async #commit(exchange: Exchange, draft: Draft, id?: string): Promise<string | undefined> {
    const { commitSeconds, context, delivery, visitors } = this.#dependencies;
    const { limits, subscriberRateLimits } = visitors;
    if (draft.event === 'message')
      limits.message(exchange, subscriberRateLimits.getChargedSender(draft.topic, exchange));
    if (draft.email !== undefined) limits.email(exchange);
    const startedAt = context.clock.now();
    const draftWithAccount = draft.due === undefined ? draft : { ...draft, account: exchange.identity?.account };
    const envelope = await delivery.publisher.publish(draftWithAccount, undefined, id);
    commitSeconds.observe((context.clock.now() - startedAt) / 1000);
    // `publish` returns undefined only for repeated keys, and requests have none.
    return envelope?.withFileAddresses(this.#dependencies.findFileRewrite(exchange.request)).text;
  }

  /** Receives the rest of the body as an attachment; its beginning is `head`. */
  async #publishFile(exchange: Exchange, { draft, upload = '' }: ParsedPublication, head: Buffer): Promise<void> {
    const { context, delivery, visitors } = this.#dependencies;
    const { attachments, publisher } = delivery;
    const { limits } = visitors;
    const { request } = exchange;
    const id = createSecretId(context);
    const sender = limits.getKey(exchange);
    const quota = limits.attachmentTotal(exchange);
    const traffic = limits.bandwidthLeft(exchange);
    const messageExpires = publisher.getExpiry(draft, draft.due ?? Math.floor(context.clock.now() / 1000));
    const { due } = draft;
    const { attachment, file, reservation } = await attachments.receive({
      request,
      id,
      name: upload,
      head,
      sender,
      quota,
      remainingTraffic: traffic,
      messageExpires,
      due,
    });
    using _room = reservation;
    try {
      limits.bandwidth(exchange, file.size);
      const message = draft.message || getFileMessage(file.name);
      const inbox = draft.inbox && { ...draft.inbox, body: message };
      await this.#publish(exchange, { ...draft, attachment, file, message, inbox }, id);
    } catch (error) {
      await attachments.deleteFiles([id]);
      throw error;
    }
  }
}

/** Returns the Content-Type of a request with a text body. */
function textType({ headers }: IncomingMessage): string | undefined {
  const type = headers['content-type'];
  return type !== undefined && /^text\//i.test(type) ? type : undefined;
}

/** Returns the parameters of a UnifiedPush message. */
function readUnifiedPushParameter(...names: readonly string[]): string {
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
