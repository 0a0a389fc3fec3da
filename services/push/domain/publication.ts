import { parseEmail } from './email.ts';
import { parseActions } from './actions.ts';
import { linkedFile } from './attachment-name.ts';
import { parseDelay, parseWordedDuration } from './delay.ts';
import type { Draft } from './message.ts';
import { commaList, flag, type Parameters } from './parameters.ts';
import { parsePriority } from './priority.ts';
import { refuse } from './refusals.ts';
import type { MessageTemplate } from './template/built-in.ts';
import { renderMessage } from './template/message.ts';
import type { Surroundings } from './template/run.ts';
import { isTopic } from './topics.ts';

/** The beginning of a publish request's body. */
export interface Body {
  /** Undefined when the bytes are not UTF-8. */
  readonly text: string | undefined;
  readonly base64: () => string;
  /** Whether it reached the limit; what is beyond is not here. */
  readonly long: boolean;
}

export interface Publication {
  readonly topic: string;
  /** From the path; it wins over the parameter. */
  readonly sequenceId?: string | undefined;
  readonly read: Parameters;
  readonly body: Body;
  /** `inline`: message, title and priority are templates themselves. */
  readonly template?: MessageTemplate | 'inline' | undefined;
  readonly newActionId: () => string;
  /** ms */
  readonly now: number;
  /** Seconds that a message may be put off at most. */
  readonly longestDelay: number;
  /** Bytes of a message. */
  readonly messageSizeLimit: number;
  /** Whether the server keeps files. */
  readonly keepsFiles: boolean;
  /** Whether messages may go out as mail, whether the sender has an account, and which address the request came from. */
  readonly mail: { readonly enabled: boolean; readonly isKnown: boolean; readonly sender: string };
  /** A template has run for too long. */
  readonly expired: () => boolean;
  /** What templates may ask of the world. */
  readonly surroundings: Surroundings;
}

/** What a request asks for: a message, and whether its body is to be kept as a file. */
export interface Asked {
  readonly draft: Draft;
  /** It came from an application server, for one program. */
  readonly isUnifiedPush?: boolean;
  /** The file's name, empty to be named after its kind. */
  readonly upload?: string;
}

const httpAddress = /^https?:\/\//;

/** What the peer says for a message without text. */
export const emptyMessage = 'triggered';

/** What the peer says for a file without text. */
export function fileMessage(name: string): string {
  return `You received a file: ${name}`;
}

/**
 * What a publish request asks for. Parameters are looked at in the peer's order, so that of several faults the same one
 * is told.
 *
 * @throws Problem of the peer's kind for a wrong parameter, and for what this server does not offer.
 */
export function parsePublication(publication: Publication): Asked {
  const { topic, read, body, template } = publication;
  const sequenceId = publication.sequenceId ?? (read('x-sequence-id', 'sequence-id', 'sid') || undefined);
  if (sequenceId !== undefined && !isTopic(sequenceId)) throw refuse('sequence_invalid');
  const cached = flag(read('x-cache', 'cache'), true);
  const filename = read('x-filename', 'filename', 'file', 'f');
  const link = linkedFile(read('x-attach', 'attach', 'a'), filename);
  const icon = read('x-icon', 'icon');
  if (icon !== '' && !httpAddress.test(icon)) throw refuse('icon_invalid');
  const email = readEmail(publication);
  if (read('x-call', 'call') !== '') throw refuse('calls_off');
  const parameter = read('x-message', 'message', 'm');
  const written = read('x-priority', 'priority', 'prio', 'p');
  const priority = template === 'inline' ? undefined : parsePriority(written);
  const tags = commaList(read('x-tags', 'tags', 'tag', 'ta'));
  const due = parseDue(publication, cached, email !== undefined);
  const actions = read('x-actions', 'actions', 'action');
  const markdown =
    flag(read('x-markdown', 'markdown', 'md'), false) ||
    /^text\/markdown\s*(;|$)/i.test(read('content-type', 'content_type'));
  const unifiedPush =
    flag(read('x-unifiedpush', 'unifiedpush', 'up'), false) || read('content-encoding') === 'aes128gcm';
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
    actions: actions === '' ? [] : parseActions(actions, publication.newActionId),
    attachment: link,
    markdown,
    email,
    due,
    lifetime: parseLifetime(read('x-expire', 'expire')),
    cached,
  };
  if (pollId !== '') {
    // Nothing else of the request goes with it: it only tells an app to look.
    return { draft: { event: 'poll_request', topic, message: 'New message', pollId, cached: false } };
  }
  // What an application server sends through UnifiedPush is for one program, sealed and unreadable to a person.
  if (unifiedPush) return { draft: { ...common, ...verbatim(body), event: 'message' }, isUnifiedPush: true };

  if (link === undefined && (filename !== '' || (template === undefined && isFile(body)))) {
    if (!publication.keepsFiles) throw refuse('attachments_off');
    const message = readBreaks(parameter);
    return { draft: { ...common, event: 'message', message, ...inInbox(message) }, upload: filename };
  }
  if (template !== undefined && link === undefined) {
    const rendered = renderMessage(
      body.text ?? '',
      { template, title, message: parameter, priority: written },
      publication,
    );
    const message = rendered.message || emptyMessage;
    const draft = { ...common, title: rendered.title, priority: rendered.priority ?? priority, message };
    return { draft: { ...draft, event: 'message', ...inInbox(message) } };
  }
  if (body.text === undefined) throw refuse('not_text');
  const message = body.text.trim() || readBreaks(parameter) || (link ? fileMessage(link.name) : emptyMessage);
  return { draft: { ...common, event: 'message', message, ...inInbox(message) } };
}

function inInbox(body: string): Pick<Draft, 'inbox'> {
  return { inbox: { source: 'push', body } };
}

/** What cannot be a message's text. */
function isFile(body: Body): boolean {
  return body.long || body.text === undefined;
}

/** Headers cannot hold a line break, so it is spelled. */
function readBreaks(text: string): string {
  return text.replaceAll('\\n', '\n');
}

function readEmail({ read, mail }: Publication): Draft['email'] {
  const text = read('x-email', 'x-e-mail', 'email', 'e-mail', 'mail', 'e');
  if (text === '') return undefined;
  if (!mail.enabled) throw refuse('email_off');
  return { to: parseEmail(text, mail.isKnown), sender: mail.sender };
}

function parseDue({ read, now, longestDelay }: Publication, cached: boolean, asMail: boolean): number | undefined {
  const delay = read('x-delay', 'delay', 'x-at', 'at', 'x-in', 'in');
  if (delay === '') return undefined;
  if (!cached) throw refuse('delay_without_cache');
  if (asMail) throw refuse('delay_with_email');
  return parseDelay(delay, now, longestDelay);
}

/** Our own parameter: how long a message counts, such as `30m` or `2 days`. In seconds. */
function parseLifetime(text: string): number | undefined {
  if (text === '') return undefined;
  const ms = parseWordedDuration(text);
  if (ms === undefined || !(ms >= 1000))
    throw refuse('invalid', 'expire takes a duration of a second or more, such as 30m');
  return Math.floor(ms / 1000);
}

function verbatim(body: Body): Pick<Draft, 'message' | 'encoding'> {
  if (body.text !== undefined) return { message: body.text || emptyMessage };
  return { message: body.base64(), encoding: 'base64' };
}
