import { TextFormat, type NotificationContent } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import { parseSources, type AttachmentSource } from '../attachments/sources.ts';
import { parseNotificationType } from '../domain/notification-type.ts';
import { splitUrls } from '../domain/configuration.ts';
import { mapFields, mappingRules } from '../domain/mapping.ts';
import { parseTagField, type TagExpression } from '../domain/tags.ts';
import { NotifyFields, sentences } from '../wire/notify.ts';
import { recognizePayload, formatFields, slackSource, type RecognizedPayload } from '../inbound/catalogue.ts';
import { parseJsonObject, type Body } from './body.ts';

/** Parsed notification request. */
export interface ParsedRequest {
  readonly content: NotificationContent;
  readonly expression: TagExpression | undefined;
  /** Destinations of a stateless call. */
  readonly urls: readonly string[];
  /** Attachments that are named in fields; uploaded files are not included. */
  readonly sources: readonly AttachmentSource[];
  /** The client expects the response of a Slack webhook. */
  readonly expectsSlackReply: boolean;
}

/** The form of Apprise API rejects a longer title; its JSON API does not. */
const maxFormTitleLength = 250;

/** Builds the error for a request that cannot be processed, with the sentence of Apprise API. */
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

/** Returns true for absent and null values, for empty text, and for lists of these. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.every(isEmpty));
}

function findNonEmpty(...values: readonly unknown[]): unknown {
  return values.find((value) => !isEmpty(value));
}

function findText(...values: readonly (string | null | undefined)[]): string | undefined {
  return values.find((value) => typeof value === 'string' && value !== '') ?? undefined;
}

/** Returns the length of the longest value of a form field. */
function getMaxLength(field: unknown): number {
  return Math.max(0, ...[field].flat().map((value) => (typeof value === 'string' ? value.length : 0)));
}

function readFormat(value: unknown, query: string | null): TextFormat {
  // `null` requests an unchanged body, which is the default for all destinations.
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
 * Parses a notification from the body and the query of a request; the body has precedence.
 *
 * @throws Problem with the status and the sentence of Apprise API.
 */
export function readNotification(
  body: Body,
  query: URLSearchParams,
  options: {
    readonly header: (name: string) => string | undefined;
    readonly key: string | undefined;
    /** Maximum number of steps in the path of a field mapping. */
    readonly mappingDepth: number;
    /** The form has uploaded files, so the body may be empty. */
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
    content: {
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

/** Builds the error for an unknown type: the sentence of Apprise API and the allowed values. */
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

/** Builds the request from the payload of a recognized program; the query has precedence. */
function fromAdapter(recognized: RecognizedPayload, query: URLSearchParams, fields: NotifyFields): ParsedRequest {
  const { tag, isKnownProgram, ...content } = recognized;
  const type = parseNotificationType(query.get('type') ?? '');
  if (type === undefined) throw createTypeProblem(sentences.lacking);
  return {
    content: {
      ...content,
      title: findText(query.get('title')) ?? content.title,
      type: findText(query.get('type')) === undefined ? content.type : type,
      tags: [],
    },
    expression: readTag(findNonEmpty(queryTags(query), tag)),
    urls: isKnownProgram ? [] : readUrls(fields.urls),
    sources: isKnownProgram ? [] : readFiles(fields),
    expectsSlackReply: isKnownProgram && content.source === slackSource,
  };
}

/** Parses the JSON that hooks put into one field of a form. */
function unwrapJson(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  // The form of Uptime Kuma has only the field `data`.
  const onlyField = Object.keys(fields).length === 1 ? fields['data'] : undefined;
  const wrapped = fields['payload'] ?? fields['payload_json'] ?? onlyField;
  const parsed = typeof wrapped === 'string' ? parseJsonObject(wrapped) : undefined;
  return parsed ?? fields;
}

function readTag(value: unknown): TagExpression | undefined {
  const tag = parseTagField(value);
  if (tag.kind === 'invalid') throw refusal(400, sentences.badTag);
  return tag.kind === 'none' ? undefined : tag.expression;
}

/** Returns `tag` and `tags` of a query; repeated values are alternatives. */
export function queryTags(query: URLSearchParams): unknown {
  const values = [...query.getAll('tag'), ...query.getAll('tags')].filter((value) => value !== '');
  return values.length > 1 ? values : values[0];
}

/**
 * Parses the number of aggregators that forwarded a notification.
 *
 * @throws Problem 400 for an invalid number, 406 above the limit.
 */
export function readHops(header: string | undefined, limit: number): number {
  if (header === undefined) return 0;
  if (!/^\s*\d{1,9}\s*$/.test(header)) throw refusal(400, sentences.badRecursion);
  if (Number(header) > limit) throw refusal(406, sentences.recursion);
  return Number(header);
}
