import type { Attachment } from './message.ts';
import { refuse } from './refusals.ts';

const longestName = 255;

/**
 * The file behind an address, which is passed on and never fetched; undefined without one.
 *
 * @throws Problem 40013
 */
export function linkedFile(url: string, filename: string): Attachment | undefined {
  if (url === '') return undefined;
  if (!/^https?:\/\//.test(url)) throw refuse('attachment_url_invalid');
  const last = URL.canParse(url) ? new URL(url).pathname.split('/').findLast((segment) => segment !== '') : undefined;
  return { name: filename || plainName(decodeSegment(last ?? '')) || 'attachment', url };
}

/** A name without a path and without what cannot stand in a name; empty when nothing is left. */
export function plainName(text: string): string {
  const last = text.split(/[/\\]/).at(-1) ?? '';
  return [...last.replace(/\p{Cc}/gu, '')].slice(0, longestName).join('');
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // Not percent-encoded UTF-8: as it is, it still is a name.
    return segment;
  }
}
