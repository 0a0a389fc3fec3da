import type { Message } from '../domain/message.ts';
import { escapeHtml } from '../domain/text/convert.ts';

/** What a destination has a place for besides the words. */
export interface MessageCapabilities {
  /** Takes a message of files alone; to others the names of the files are told where there are no words. */
  readonly filesOnly?: boolean | undefined;
  /** Takes the link of a notice by itself, or has no use for it; to others it is told below the words. */
  readonly handlesLink?: boolean | undefined;
}

/** The message with what it has no place for told in its body. */
export function addFallbacks(
  message: Message,
  { filesOnly = false, handlesLink = false }: MessageCapabilities,
): Message {
  const withFileNames = filesOnly ? message : addFileNames(message);
  return handlesLink ? withFileNames : addLink(withFileNames);
}

/** Names of files that are told. */
const maxNames = 10;

/** An empty message is refused by many services. */
function addFileNames(message: Message): Message {
  const { title, body, attachments = [] } = message;
  if (title !== '' || body !== '' || attachments.length === 0) return message;
  const more = attachments.length > maxNames ? ', …' : '';
  const names = attachments.slice(0, maxNames).map(({ name }) => name);
  return { ...message, format: 'text', body: names.join(', ') + more };
}

/** Addresses of this machine lead nowhere for who reads it elsewhere. */
const loopbackAddress = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])([:/?#]|$)/i;

function addLink(message: Message): Message {
  const { body, format, link } = message;
  if (link === undefined || !/^https?:\/\//i.test(link) || loopbackAddress.test(link) || body.includes(link))
    return message;
  if (format !== 'html') return { ...message, body: body === '' ? link : `${body}\n\n${link}` };
  const address = escapeHtml(link).replaceAll('"', '&quot;');
  return { ...message, body: `${body}<p><a href="${address}">${escapeHtml(link)}</a></p>` };
}
