import { parseActions } from './actions.ts';
import type { Attachment, Draft } from './message.ts';
import { commaList, flag, type Parameters } from './parameters.ts';
import { parsePriority } from './priority.ts';
import { refuse } from './refusals.ts';
import { isTopic } from './topics.ts';

/** The bytes of a publish request. */
export interface Body {
  /** Undefined when the bytes are not UTF-8. */
  readonly text: string | undefined;
  readonly base64: () => string;
  /** Whether it reached the message limit; what is beyond is not here. */
  readonly long: boolean;
}

export interface Publication {
  readonly topic: string;
  /** From the path; it wins over the parameter. */
  readonly sequenceId?: string | undefined;
  readonly read: Parameters;
  readonly body: Body;
  readonly newActionId: () => string;
}

const httpAddress = /^https?:\/\//;

/** What the peer says for a message without text. */
export const emptyMessage = 'triggered';

/**
 * What a publish request asks for. Parameters are looked at in the peer's order, so that of several faults the same one
 * is told.
 *
 * @throws Problem of the peer's kind for a wrong parameter, and for what this server does not offer.
 */
export function parsePublication({ topic, sequenceId: pathId, read, body, newActionId }: Publication): Draft {
  const sequenceId = pathId ?? (read('x-sequence-id', 'sequence-id', 'sid') || undefined);
  if (sequenceId !== undefined && !isTopic(sequenceId)) throw refuse('sequence_invalid');
  const cached = flag(read('x-cache', 'cache'), true);
  const attachment = parseAttachment(read);
  const icon = read('x-icon', 'icon');
  if (icon !== '' && !httpAddress.test(icon)) throw refuse('icon_invalid');
  if (read('x-email', 'x-e-mail', 'email', 'e-mail', 'mail', 'e') !== '') throw refuse('email_off');
  if (read('x-call', 'call') !== '') throw refuse('calls_off');
  if (flagOrName(read('x-template', 'template', 'tpl')))
    throw refuse('invalid', 'templates are not offered by this server');
  const parameter = read('x-message', 'message', 'm').replaceAll('\\n', '\n');
  const priority = parsePriority(read('x-priority', 'priority', 'prio', 'p'));
  const tags = commaList(read('x-tags', 'tags', 'tag', 'ta'));
  refuseDelay(read, cached);
  const written = read('x-actions', 'actions', 'action');
  const markdown =
    flag(read('x-markdown', 'markdown', 'md'), false) ||
    /^text\/markdown\s*(;|$)/i.test(read('content-type', 'content_type'));
  const unifiedPush =
    flag(read('x-unifiedpush', 'unifiedpush', 'up'), false) || read('content-encoding') === 'aes128gcm';
  const pollId = read('x-poll-id', 'poll-id');

  const common = {
    topic,
    sequenceId,
    title: read('x-title', 'title', 't'),
    priority,
    tags,
    click: read('x-click', 'click'),
    icon,
    actions: written === '' ? [] : parseActions(written, newActionId),
    attachment: attachment?.link,
    markdown,
  };
  if (pollId !== '') return { ...common, event: 'poll_request', message: 'New message', pollId, cached: false };
  // What an application server sends through UnifiedPush is for one program, sealed and unreadable to a person.
  if (unifiedPush) return { ...common, ...verbatim(body), event: 'message', cached };
  const message = textOf(body, parameter, attachment);
  return { ...common, event: 'message', message, cached, inbox: { source: 'push', body: message } };
}

function parseAttachment(read: Parameters): { readonly link: Attachment | undefined } | undefined {
  const filename = read('x-filename', 'filename', 'file', 'f');
  const url = read('x-attach', 'attach', 'a');
  if (url === '') return filename === '' ? undefined : { link: undefined };
  if (!httpAddress.test(url)) throw refuse('attachment_url_invalid');
  const last = URL.canParse(url) ? new URL(url).pathname.split('/').findLast((segment) => segment !== '') : undefined;
  return { link: { name: filename || decodeSegment(last ?? '') || 'attachment', url } };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // Not percent-encoded UTF-8: as it is, it still is a name.
    return segment;
  }
}

/** `yes` asks for an inline template, a name for a file; a plain no asks for neither. */
function flagOrName(text: string): boolean {
  return text !== '' && !/^(0|no|false)$/i.test(text);
}

function refuseDelay(read: Parameters, cached: boolean): void {
  if (read('x-delay', 'delay', 'x-at', 'at', 'x-in', 'in') === '') return;
  if (!cached) throw refuse('delay_without_cache');
  throw refuse('invalid', 'scheduled delivery is not offered by this server');
}

function verbatim(body: Body): Pick<Draft, 'message' | 'encoding'> {
  if (body.text !== undefined) return { message: body.text || emptyMessage };
  return { message: body.base64(), encoding: 'base64' };
}

/** The message's text: the body's when there is one, else the parameter's. */
function textOf(body: Body, parameter: string, attachment: ReturnType<typeof parseAttachment>): string {
  if (attachment === undefined) {
    if (body.long) throw refuse('too_large');
    if (body.text === undefined) throw refuse('attachments_off');
  } else {
    if (attachment.link === undefined) throw refuse('attachments_off');
    if (body.long) throw refuse('too_large');
    if (body.text === undefined) throw refuse('not_text');
  }
  const text = body.text.trim() || parameter;
  if (text !== '') return text;
  return attachment?.link === undefined ? emptyMessage : `You received a file: ${attachment.link.name}`;
}
