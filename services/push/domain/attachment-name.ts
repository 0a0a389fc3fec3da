import type { Attachment } from './message.ts';
import { refuse } from './refusals.ts';
import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';

const maxNameLength = 255;

/**
 * Returns an external attachment, which is passed on and never downloaded; undefined without a URL.
 *
 * @throws Problem 40013
 */
export function toLinkedAttachment(url: string, filename: string): Attachment | undefined {
  if (url === '') return undefined;
  if (!/^https?:\/\//.test(url)) throw refuse('attachment_url_invalid');
  const lastSegment = URL.canParse(url)
    ? new URL(url).pathname.split('/').findLast((segment) => segment !== '')
    : undefined;
  return { name: filename || sanitizeFileName(decodeSegment(lastSegment ?? '')) || 'attachment', url };
}

/** Returns a file name without path and control characters; empty when nothing remains. */
export function sanitizeFileName(text: string): string {
  const lastSegment = text.split(/[/\\]/).at(-1) ?? '';
  return [...lastSegment.replace(/\p{Cc}/gu, '')].slice(0, maxNameLength).join('');
}

function decodeSegment(segment: string): string {
  // A segment that is not percent-encoded UTF-8 is usable as a name.
  return decodePercentEncoding(segment) ?? segment;
}
