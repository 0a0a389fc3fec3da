import { TextFormat, type NotificationContent } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import { readSources, type AttachmentSource } from '../attachments/sources.ts';
import { parseNoticeType } from '../domain/notification-type.ts';
import { splitUrls } from '../domain/configuration.ts';
import { mapFields, mappingRules } from '../domain/mapping.ts';
import { parseTagField, type TagExpression } from '../domain/tags.ts';
import { NotifyFields, sentences } from '../wire/notify.ts';
import { recognise, showFields, slackSource, type Recognised } from '../inbound/catalogue.ts';
import { parseJson, type Body } from './body.ts';

/** A notification as a caller asked for it. */
export interface Notification {
  readonly notice: NotificationContent;
  readonly expression: TagExpression | undefined;
  /** Destinations of a stateless call. */
  readonly urls: readonly string[];
  /** Files it names besides those that came in parts of a form. */
  readonly sources: readonly AttachmentSource[];
  /** Its caller takes us for Slack, and looks for what Slack answers. */
  readonly forSlack: boolean;
}

/** The peer's own form refuses a longer one; its JSON does not. */
const formTitleLimit = 250;

/** A request that cannot be served, with the peer's sentence for it. */
export function refusal(status: number, sentence: string): Problem {
  return new Problem('notify.refused', status, sentence);
}

function fieldsOf(body: Body, query: URLSearchParams, titleHeader: string | undefined): Record<string, unknown> {
  switch (body.kind) {
    case 'bad-json':
      throw refusal(400, sentences.badJson);
    case 'too-large':
      throw refusal(431, sentences.tooLarge);
    case 'bad-form':
      throw refusal(400, sentences.badForm);
    case 'none':
      throw refusal(400, sentences.lacking);
    case 'text':
      return { body: body.text, title: query.get('title') ?? titleHeader };
    case 'form':
      if (body.refused) throw refusal(400, sentences.badAttachment);
      if (longest(body.fields['title']) > formTitleLimit) throw refusal(400, sentences.badForm);
      return body.fields;
    case 'json':
      if (Object.keys(body.fields).length === 0) throw refusal(400, sentences.badForm);
      return body.fields;
  }
}

/** Absent, null, empty text and a list of nothing else all mean that a caller said nothing. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.every(isEmpty));
}

function firstOf(...values: readonly unknown[]): unknown {
  return values.find((value) => !isEmpty(value));
}

function firstText(...values: readonly (string | null | undefined)[]): string | undefined {
  return values.find((value) => typeof value === 'string' && value !== '') ?? undefined;
}

/** Characters of the longest value of a form field. */
function longest(field: unknown): number {
  return Math.max(0, ...[field].flat().map((value) => (typeof value === 'string' ? value.length : 0)));
}

function readFormat(value: unknown, query: string | null): TextFormat {
  // `null` asks to pass the body untouched, which is what text is to every destination.
  const word = value === null ? 'text' : (firstOf(value, query) ?? 'text');
  const format = TextFormat.safeParse(typeof word === 'string' ? word.toLowerCase() : word);
  if (!format.success) throw refusal(400, sentences.badFormat);
  return format.data;
}

function readUrls(value: unknown): readonly string[] {
  if (typeof value === 'string') return splitUrls(value);
  return Array.isArray(value)
    ? value.flatMap((item: unknown) => (typeof item === 'string' ? splitUrls(item) : []))
    : [];
}

/**
 * Reads a notification from a request's body and query; what stands in the body wins.
 * @throws Problem with the peer's status and sentence.
 */
export function readNotification(
  body: Body,
  query: URLSearchParams,
  options: {
    readonly header: (name: string) => string | undefined;
    readonly key: string | undefined;
    /** Steps a path of a field mapping may have. */
    readonly mappingDepth: number;
    /** Files came in parts of the form, so that the body may be empty. */
    readonly hasFiles: boolean;
  },
): Notification {
  const rules = mappingRules(query);
  const given = fieldsOf(body, query, options.header('title'));
  const mapped =
    rules.length === 0
      ? given
      : mapFields(given, rules, { nested: body.kind === 'json', deepest: options.mappingDepth });
  if (mapped === undefined) {
    throw refusal(400, sentences.mappingFailed + (options.key === undefined ? '' : ` using KEY: ${options.key}`));
  }
  const fields = NotifyFields.parse(mapped);
  const format = readFormat(fields.format, query.get('format'));
  const strange = rules.length === 0 && isEmpty(fields.body) ? unwrapped(mapped) : undefined;
  const program = strange === undefined ? undefined : recognise(strange, options.header, format);
  if (program !== undefined) return fromProgram(program, query, fields);
  const type = parseNoticeType(firstText(fields.type, query.get('type')) ?? 'info');
  if (type === undefined) throw unknownType(body.kind === 'form' ? sentences.badForm : sentences.lacking);
  const sources = readFiles(fields);
  if (isEmpty(fields.body) && sources.length === 0 && !options.hasFiles) throw refusal(400, sentences.lacking);
  const title = firstText(fields.title, query.get('title')) ?? '';
  const isUnread = isEmpty(fields.body) && title === '' && strange !== undefined && hasForeignFields(mapped);
  return {
    notice: {
      title,
      body: isUnread ? showFields(strange) : (fields.body ?? ''),
      type,
      format,
      tags: [],
      source: 'notify',
    },
    expression: readTag(firstOf(fields.tag, fields.tags, queryTags(query))),
    urls: readUrls(fields.urls),
    sources,
    forSlack: false,
  };
}

/** The peer's sentence, and what is wrong. */
function unknownType(sentence: string): Problem {
  return refusal(400, `${sentence}: type must be info, success, warning or failure`);
}

/** Returns true for a form with fields that are not those of a notification. */
function hasForeignFields(fields: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(fields).some(([name, value]) => !Object.hasOwn(NotifyFields.shape, name) && !isEmpty(value));
}

function readFiles(fields: NotifyFields): readonly AttachmentSource[] {
  const named = firstOf(fields.attach, fields.attachment, fields.attachments);
  const sources = named === undefined ? [] : readSources(named);
  if (sources === undefined) throw refusal(400, sentences.badAttachment);
  return sources;
}

/** What a known program says; what the caller's query says wins over it. */
function fromProgram(program: Recognised, query: URLSearchParams, fields: NotifyFields): Notification {
  const { tag, foreign, ...notice } = program;
  const type = parseNoticeType(query.get('type') ?? '');
  if (type === undefined) throw unknownType(sentences.lacking);
  return {
    notice: {
      ...notice,
      title: firstText(query.get('title')) ?? notice.title,
      type: firstText(query.get('type')) === undefined ? notice.type : type,
      tags: [],
    },
    expression: readTag(firstOf(queryTags(query), tag)),
    urls: foreign ? [] : readUrls(fields.urls),
    sources: foreign ? [] : readFiles(fields),
    forSlack: foreign && notice.source === slackSource,
  };
}

/** Hooks that post a form put their JSON into one field of it. */
function unwrapped(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  // Uptime Kuma's form has nothing but `data`.
  const alone = Object.keys(fields).length === 1 ? fields['data'] : undefined;
  const wrapped = fields['payload'] ?? fields['payload_json'] ?? alone;
  const inside = typeof wrapped === 'string' ? parseJson(wrapped) : undefined;
  return inside ?? fields;
}

function readTag(value: unknown): TagExpression | undefined {
  const tag = parseTagField(value);
  if (tag.kind === 'invalid') throw refusal(400, sentences.badTag);
  return tag.kind === 'none' ? undefined : tag.expression;
}

/** `tag` and `tags` of a query; repeated ones are alternatives. */
export function queryTags(query: URLSearchParams): unknown {
  const values = [...query.getAll('tag'), ...query.getAll('tags')].filter((value) => value !== '');
  return values.length > 1 ? values : values[0];
}

/** How many aggregators passed a notification on. @throws Problem 400 for something that is no count, 406 when the notification was passed on too often. */
export function readHops(header: string | undefined, limit: number): number {
  if (header === undefined) return 0;
  if (!/^\s*\d{1,9}\s*$/.test(header)) throw refusal(400, sentences.badRecursion);
  if (Number(header) > limit) throw refusal(406, sentences.recursion);
  return Number(header);
}
