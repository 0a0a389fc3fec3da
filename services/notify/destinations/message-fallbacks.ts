import type { Message } from '../domain/message.ts';
import { escapeHtml } from '../domain/text/convert.ts';

/** What a destination has a place for besides the words. */
export interface Places {
  /** Takes a message of files alone; to others the names of the files are told where there are no words. */
  readonly wordless?: boolean | undefined;
  /** Takes the link of a notice by itself, or has no use for it; to others it is told below the words. */
  readonly ownLink?: boolean | undefined;
}

/** The message with what it has no place for told in its body. */
export function toldFor(message: Message, { wordless = false, ownLink = false }: Places): Message {
  const worded = wordless ? message : withNames(message);
  return ownLink ? worded : withLink(worded);
}

/** Names of files that are told. */
const mostNames = 10;

/** An empty message is refused by many services. */
function withNames(message: Message): Message {
  const { title, body, attachments = [] } = message;
  if (title !== '' || body !== '' || attachments.length === 0) return message;
  const more = attachments.length > mostNames ? ', …' : '';
  const names = attachments.slice(0, mostNames).map(({ name }) => name);
  return { ...message, format: 'text', body: names.join(', ') + more };
}

/** Addresses of this machine lead nowhere for who reads it elsewhere. */
const ownMachine = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])([:/?#]|$)/i;

function withLink(message: Message): Message {
  const { body, format, link } = message;
  if (link === undefined || !/^https?:\/\//i.test(link) || ownMachine.test(link) || body.includes(link)) return message;
  if (format !== 'html') return { ...message, body: body === '' ? link : `${body}\n\n${link}` };
  const address = escapeHtml(link).replaceAll('"', '&quot;');
  return { ...message, body: `${body}<p><a href="${address}">${escapeHtml(link)}</a></p>` };
}
