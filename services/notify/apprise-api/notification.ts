import { TextFormat, type NotificationContent } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import { parseSources, type AttachmentSource } from '../attachments/sources.ts';
import { parseNotificationType } from '../domain/notification-type.ts';
import { splitUrls } from '../domain/configuration.ts';
import { mapFields, mappingRules } from '../domain/mapping.ts';
import { parseTagField, type TagExpression } from '../domain/tags.ts';
import { NotifyFields, sentences } from '../wire/notify.ts';
import { recognizePayload, formatFields, slackSource, type RecognizedPayload } from '../inbound/catalogue.ts';
import { parseJson, type Body } from './body.ts';

/** A notification as a caller asked for it. */
export interface ParsedRequest {
  readonly notice: NotificationContent;
  readonly expression: TagExpression | undefined;
  /** Destinations of a stateless call. */
  readonly urls: readonly string[];
  /** Files it names besides those that came in parts of a form. */
  readonly sources: readonly AttachmentSource[];
  /** Its caller takes us for Slack, and looks for what Slack answers. */
  readonly expectsSlackReply: boolean;
}

/** The peer's own form refuses a longer one; its JSON does not. */
const maxFormTitleLength = 250;

/** A request that cannot be served, with the peer's sentence for it. */
export function refusal(status: number, sentence: string): Problem {
  return new Problem('notify.refused', status, sentence);
}

function readFields(body: Body, query: URLSearchParams, titleHeader: string | undefined): Record<string, unknown> {
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
      if (body.hasRefusedFile) throw refusal(400, sentences.badAttachment);
      if (getMaxLength(body.fields['title']) > maxFormTitleLength) throw refusal(400, sentences.badForm);
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

function findNonEmpty(...values: readonly unknown[]): unknown {
  return values.find((value) => !isEmpty(value));
}

function findText(...values: readonly (string | null | undefined)[]): string | undefined {
  return values.find((value) => typeof value === 'string' && value !== '') ?? undefined;
}

/** Characters of the longest value of a form field. */
function getMaxLength(field: unknown): number {
  return Math.max(0, ...[field].flat().map((value) => (typeof value === 'string' ? value.length : 0)));
}

function readFormat(value: unknown, query: string | null): TextFormat {
  // `null` asks to pass the body untouched, which is what text is to every destination.
  const formatName = value === null ? 'text' : (findNonEmpty(value, query) ?? 'text');
  const format = TextFormat.safeParse(typeof formatName === 'string' ? formatName.toLowerCase() : formatName);
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
): ParsedRequest {
  const mappings = mappingRules(query);
  const typedFields = readFields(body, query, options.header('title'));
  const mapped =
    mappings.length === 0
      ? typedFields
      : mapFields(typedFields, mappings, { nested: body.kind === 'json', maxDepth: options.mappingDepth });
  if (mapped === undefined) {
    throw refusal(400, sentences.mappingFailed + (options.key === undefined ? '' : ` using KEY: ${options.key}`));
  }
  const fields = NotifyFields.parse(mapped);
  const format = readFormat(fields.format, query.get('format'));
  const foreignFields = mappings.length === 0 && isEmpty(fields.body) ? unwrapJson(mapped) : undefined;
  const recognized = foreignFields === undefined ? undefined : recognizePayload(foreignFields, options.header, format);
  if (recognized !== undefined) return fromAdapter(recognized, query, fields);
  const type = parseNotificationType(findText(fields.type, query.get('type')) ?? 'info');
  if (type === undefined) throw createTypeProblem(body.kind === 'form' ? sentences.badForm : sentences.lacking);
  const sources = readFiles(fields);
  if (isEmpty(fields.body) && sources.length === 0 && !options.hasFiles) throw refusal(400, sentences.lacking);
  const title = findText(fields.title, query.get('title')) ?? '';
  const isUnrecognized =
    isEmpty(fields.body) && title === '' && foreignFields !== undefined && hasForeignFields(mapped);
  return {
    notice: {
      title,
      body: isUnrecognized ? formatFields(foreignFields) : (fields.body ?? ''),
      type,
      format,
      tags: [],
      source: 'notify',
    },
    expression: readTag(findNonEmpty(fields.tag, fields.tags, queryTags(query))),
    urls: readUrls(fields.urls),
    sources,
    expectsSlackReply: false,
  };
}

/** The peer's sentence, and what is wrong. */
function createTypeProblem(sentence: string): Problem {
  return refusal(400, `${sentence}: type must be info, success, warning or failure`);
}

/** Returns true for a form with fields that are not those of a notification. */
function hasForeignFields(fields: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(fields).some(([name, value]) => !Object.hasOwn(NotifyFields.shape, name) && !isEmpty(value));
}

function readFiles(fields: NotifyFields): readonly AttachmentSource[] {
  const fileFields = findNonEmpty(fields.attach, fields.attachment, fields.attachments);
  const sources = fileFields === undefined ? [] : parseSources(fileFields);
  if (sources === undefined) throw refusal(400, sentences.badAttachment);
  return sources;
}

/** What a known program says; what the caller's query says wins over it. */
function fromAdapter(recognized: RecognizedPayload, query: URLSearchParams, fields: NotifyFields): ParsedRequest {
  const { tag, isKnownProgram, ...notice } = recognized;
  const type = parseNotificationType(query.get('type') ?? '');
  if (type === undefined) throw createTypeProblem(sentences.lacking);
  return {
    notice: {
      ...notice,
      title: findText(query.get('title')) ?? notice.title,
      type: findText(query.get('type')) === undefined ? notice.type : type,
      tags: [],
    },
    expression: readTag(findNonEmpty(queryTags(query), tag)),
    urls: isKnownProgram ? [] : readUrls(fields.urls),
    sources: isKnownProgram ? [] : readFiles(fields),
    expectsSlackReply: isKnownProgram && notice.source === slackSource,
  };
}

/** Hooks that post a form put their JSON into one field of it. */
function unwrapJson(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  // Uptime Kuma's form has nothing but `data`.
  const onlyField = Object.keys(fields).length === 1 ? fields['data'] : undefined;
  const wrapped = fields['payload'] ?? fields['payload_json'] ?? onlyField;
  const parsed = typeof wrapped === 'string' ? parseJson(wrapped) : undefined;
  return parsed ?? fields;
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
