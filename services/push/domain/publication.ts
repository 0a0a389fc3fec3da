import { parseEmail } from './email.ts';
import { parseActions } from './actions.ts';
import { toLinkedAttachment } from './attachment-name.ts';
import { parseDelay, parseNaturalDuration } from './delay.ts';
import type { Draft } from './message.ts';
import { parseCommaList, parseFlag, type Parameters } from './parameters.ts';
import { parsePriority } from './priority.ts';
import { refuse } from './refusals.ts';
import type { MessageTemplate } from './template/built-in.ts';
import { renderMessage, type TemplateInput } from './template/message.ts';
import type { TemplateEnvironment } from './template/run.ts';
import { isTopic } from './topics.ts';

/** Beginning of the body of a publish request. */
export interface Body {
  /** Undefined when the bytes are not UTF-8. */
  readonly text: string | undefined;
  readonly base64: () => string;
  /** True when the body reached the limit and is incomplete. */
  readonly isTruncated: boolean;
}

export interface PublishRequest {
  readonly topic: string;
  /** Sequence id of the path, which takes precedence over the parameter. */
  readonly sequenceId?: string | undefined;
  readonly read: Parameters;
  readonly body: Body;
  /** With `inline`, message, title and priority are templates. */
  readonly template?: MessageTemplate | 'inline' | undefined;
  readonly newActionId: () => string;
  /** Ms. */
  readonly now: number;
  /** Maximum delay in seconds. */
  readonly maxDelaySeconds: number;
  /** Bytes. */
  readonly messageSizeLimit: number;
  /** True when attachments are enabled. */
  readonly attachmentsEnabled: boolean;
  /** State of mail forwarding, whether the sender has an account, and the client address. */
  readonly mail: { readonly enabled: boolean; readonly hasAccount: boolean; readonly sender: string };
  /** Returns true when the templates exceeded their run time. */
  readonly isExpired: () => boolean;
  /** Environment of templates. */
  readonly environment: TemplateEnvironment;
}

/** Parsed publish request: a draft and whether the body is an attachment. */
export interface ParsedPublication {
  readonly draft: Draft;
  /** Sent by an application server to one application. */
  readonly isUnifiedPush?: boolean;
  /** File name of the attachment; empty to derive it from the type. */
  readonly upload?: string;
}

const httpUrl = /^https?:\/\//;

/** Text of ntfy for a message without text. */
export const emptyMessage = 'triggered';

/** Returns ntfy's text for an attachment without text. */
export function getFileMessage(name: string): string {
  return `You received a file: ${name}`;
}

/**
 * Parses a publish request. Parameters are checked in ntfy's order, so that the same error is reported when several
 * apply.
 *
 * @throws Problem with ntfy's error codes for invalid parameters and for unavailable features
 */
export function parsePublication(request: PublishRequest): ParsedPublication {
  const { topic, read, body, template } = request;
  const sequenceId = request.sequenceId ?? (read('x-sequence-id', 'sequence-id', 'sid') || undefined);
  if (sequenceId !== undefined && !isTopic(sequenceId)) throw refuse('sequence_invalid');
  const cached = parseFlag(read('x-cache', 'cache'), true);
  const filename = read('x-filename', 'filename', 'file', 'f');
  const linkedAttachment = toLinkedAttachment(read('x-attach', 'attach', 'a'), filename);
  const icon = read('x-icon', 'icon');
  if (icon !== '' && !httpUrl.test(icon)) throw refuse('icon_invalid');
  const email = parseRecipient(request);
  if (read('x-call', 'call') !== '') throw refuse('calls_off');
  const messageParameter = read('x-message', 'message', 'm');
  const priorityParameter = read('x-priority', 'priority', 'prio', 'p');
  const priority = template === 'inline' ? undefined : parsePriority(priorityParameter);
  const tags = parseCommaList(read('x-tags', 'tags', 'tag', 'ta'));
  const due = parseDue(request, cached, email !== undefined);
  const actions = read('x-actions', 'actions', 'action');
  const markdown = isMarkdown(read);
  const unifiedPush = isUnifiedPush(read);
  const pollId = read('x-poll-id', 'poll-id');
  const title = read('x-title', 'title', 't');

  const common = {
    topic,
    sequenceId,
    title,
    priority,
    tags,
    click: read('x-click', 'click'),
    icon,
    actions: actions === '' ? [] : parseActions(actions, request.newActionId),
    attachment: linkedAttachment,
    markdown,
    email,
    due,
    lifetime: parseLifetime(read('x-expire', 'expire')),
    cached,
  };
  if (pollId !== '') {
    // Poll requests carry no other fields; they only make an app fetch messages.
    return { draft: { event: 'poll_request', topic, message: 'New message', pollId, cached: false } };
  }
  // UnifiedPush messages are encrypted for one application and not shown to users.
  if (unifiedPush) return { draft: { ...common, ...toRawMessage(body), event: 'message' }, isUnifiedPush: true };

  if (linkedAttachment === undefined && (filename !== '' || (template === undefined && isFile(body)))) {
    if (!request.attachmentsEnabled) throw refuse('attachments_off');
    const message = unescapeLineBreaks(messageParameter);
    return { draft: { ...common, event: 'message', message, ...toInboxFields(message) }, upload: filename };
  }
  if (template !== undefined && linkedAttachment === undefined) {
    const parameters = { template, title, message: messageParameter, priority: priorityParameter };
    return { draft: { ...common, event: 'message', ...renderFields(request, parameters, priority) } };
  }
  if (body.text === undefined) throw refuse('not_text');
  const message =
    body.text.trim() ||
    unescapeLineBreaks(messageParameter) ||
    (linkedAttachment ? getFileMessage(linkedAttachment.name) : emptyMessage);
  return { draft: { ...common, event: 'message', message, ...toInboxFields(message) } };
}

function isMarkdown(read: Parameters): boolean {
  return (
    parseFlag(read('x-markdown', 'markdown', 'md'), false) ||
    /^text\/markdown\s*(;|$)/i.test(read('content-type', 'content_type'))
  );
}

function isUnifiedPush(read: Parameters): boolean {
  return parseFlag(read('x-unifiedpush', 'unifiedpush', 'up'), false) || read('content-encoding') === 'aes128gcm';
}

/** Renders the fields that are templates; `priority` applies when the template sets none. */
function renderFields(
  request: PublishRequest,
  parameters: TemplateInput,
  priority: Draft['priority'],
): Pick<Draft, 'title' | 'priority' | 'message' | 'inbox'> {
  const rendered = renderMessage(request.body.text ?? '', parameters, request);
  const message = rendered.message || emptyMessage;
  return { title: rendered.title, priority: rendered.priority ?? priority, message, ...toInboxFields(message) };
}

function toInboxFields(body: string): Pick<Draft, 'inbox'> {
  return { inbox: { source: 'push', body } };
}

/** Returns true when the body cannot be the text of a message. */
function isFile(body: Body): boolean {
  return body.isTruncated || body.text === undefined;
}

/** Converts escaped line breaks, which headers cannot contain. */
function unescapeLineBreaks(text: string): string {
  return text.replaceAll('\\n', '\n');
}

function parseRecipient({ read, mail }: PublishRequest): Draft['email'] {
  const text = read('x-email', 'x-e-mail', 'email', 'e-mail', 'mail', 'e');
  if (text === '') return undefined;
  if (!mail.enabled) throw refuse('email_off');
  return { to: parseEmail(text, mail.hasAccount), sender: mail.sender };
}

function parseDue(
  { read, now, maxDelaySeconds }: PublishRequest,
  cached: boolean,
  isMail: boolean,
): number | undefined {
  const delay = read('x-delay', 'delay', 'x-at', 'at', 'x-in', 'in');
  if (delay === '') return undefined;
  if (!cached) throw refuse('delay_without_cache');
  if (isMail) throw refuse('delay_with_email');
  return parseDelay(delay, now, maxDelaySeconds);
}

/** Parses the lifetime of a message, an extension of Homeport such as `30m` or `2 days`, into seconds. */
function parseLifetime(text: string): number | undefined {
  if (text === '') return undefined;
  const ms = parseNaturalDuration(text);
  if (ms === undefined || !(ms >= 1000))
    throw refuse('invalid', 'expire takes a duration of a second or more, such as 30m');
  return Math.floor(ms / 1000);
}

function toRawMessage(body: Body): Pick<Draft, 'message' | 'encoding'> {
  if (body.text !== undefined) return { message: body.text || emptyMessage };
  return { message: body.base64(), encoding: 'base64' };
}
