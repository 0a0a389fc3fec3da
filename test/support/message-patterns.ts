import { toText, type RichMessage, type RichPart } from '../../messages/runtime.ts';

/** Value of a parameter that a test does not know: patterns accept any text in its place. */
export const anyText = '\uE000';

/** Value of a number or plural that a test does not know: patterns accept any number in its place. */
export const anyCount = 987_654_321;

const formattedCount = anyCount.toLocaleString('en');

/** Border of a tag in the text of a message. Browsers can separate the name of its element with a space. */
const border = '\uE001';

/** Returns the text of a message, with any text in empty tags, whose content a component renders (`<time></time>`). */
function joinParts(parts: readonly RichPart[]): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part;
      return border + (part.children.length === 0 ? anyText : joinParts(part.children)) + border;
    })
    .join('');
}

function toSource(message: string | RichMessage): string {
  const text = typeof message === 'string' ? message : joinParts(message.parts);
  // Not RegExp.escape, which also escapes spaces and first letters: failed tests show the pattern.
  return text
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/[\u00a0\u202f]/g, String.raw`\s`)
    .replaceAll(border, String.raw`\s*`)
    .replaceAll(anyText, '.*')
    .replaceAll(formattedCount, String.raw`\d[\d,]*`)
    .replaceAll(String(anyCount), String.raw`\d+`);
}

/** Returns a pattern of texts that contain a message of a catalog. */
export function containing(message: string | RichMessage): RegExp {
  return new RegExp(toSource(message));
}

/** Returns a pattern of texts that begin with a message of a catalog. */
export function startingWith(message: string | RichMessage): RegExp {
  return new RegExp(`^${toSource(message)}`);
}

/** Returns a pattern of texts that equal a message of a catalog. */
export function matching(message: string | RichMessage): RegExp {
  return new RegExp(`^${toSource(message)}$`);
}

/** Returns the text inside the first tag with this name, such as the label of a link in a sentence. */
export function getTagText(message: RichMessage, tag: string): string {
  for (const part of message.parts) {
    if (typeof part === 'string') continue;
    if (part.tag === tag) return toText(part.children);
    const inner = part.children.length === 0 ? '' : getTagText({ parts: part.children }, tag);
    if (inner !== '') return inner;
  }
  return '';
}
