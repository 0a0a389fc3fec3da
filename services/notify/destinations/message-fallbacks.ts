import type { Message } from '../domain/message.ts';
import { escapeMarkup } from '../../kit/escape-html.ts';

/** Parts of a message in addition to text that a destination supports. */
export interface MessageCapabilities {
  /** Accepts a message without text; for other destinations, the names of the files become the text. */
  readonly filesOnly?: boolean | undefined;
  /** Handles the link of a notification itself or ignores it; for other destinations, it is appended to the body. */
  readonly handlesLink?: boolean | undefined;
}

/** Adds the unsupported parts of a message to its body. */
export function addFallbacks(
  message: Message,
  { filesOnly = false, handlesLink = false }: MessageCapabilities,
): Message {
  const withFileNames = filesOnly ? message : addFileNames(message);
  return handlesLink ? withFileNames : addLink(withFileNames);
}

/** Maximum number of listed file names. */
const maxNames = 10;

/** Adds file names to a message without text, because many services reject an empty message. */
function addFileNames(message: Message): Message {
  const { title, body, attachments = [] } = message;
  if (title !== '' || body !== '' || attachments.length === 0) return message;
  const more = attachments.length > maxNames ? ', …' : '';
  const names = attachments.slice(0, maxNames).map(({ name }) => name);
  return { ...message, format: 'text', body: names.join(', ') + more };
}

/** Addresses of this computer are useless on other devices. */
const loopbackAddress = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])([:/?#]|$)/i;

function addLink(message: Message): Message {
  const { body, format, link } = message;
  if (link === undefined || !/^https?:\/\//i.test(link) || loopbackAddress.test(link) || body.includes(link))
    return message;
  if (format !== 'html') return { ...message, body: body === '' ? link : `${body}\n\n${link}` };
  const address = escapeMarkup(link).replaceAll('"', '&quot;');
  return { ...message, body: `${body}<p><a href="${address}">${escapeMarkup(link)}</a></p>` };
}
