/** Builds the link of an issue from its number and, if it is in another repository, the name `owner/name`. */
export type NumberHref = (number: number, repository?: string) => string;

/** Part of a text: plain text, or a reference to an issue such as `#12` or `ada/harbor#12`. */
export interface TextPart {
  readonly text: string;
  readonly reference?: { readonly number: number; readonly repository?: string };
}

/** Reference to an issue or a pull request: not within a word, an address or another number. */
const referencePattern =
  /(?<![\w/&#.@:-])(?<repository>[A-Za-z0-9][\w.-]*\/[\w.-]+)?#(?<number>[1-9]\d{0,8})(?![\w-])/g;

/** Splits a text into plain text and references. */
export function splitReferences(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const match of text.matchAll(referencePattern)) {
    const { number, repository } = match.groups ?? {};
    if (match.index > end) parts.push({ text: text.slice(end, match.index) });
    const reference = { number: Number(number), ...(repository === undefined ? {} : { repository }) };
    parts.push({ text: match[0], reference });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

const skippedElements = 'a, code, pre, kbd, samp';

/** Replaces each reference of a text by a link, except in code and links. */
export function linkNumbers(content: DocumentFragment, getHref: NumberHref): void {
  const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) texts.push(node as Text);
  for (const text of texts) {
    if (text.parentElement?.closest(skippedElements)) continue;
    const parts = splitReferences(text.data);
    if (parts.every(({ reference }) => reference === undefined)) continue;
    text.replaceWith(...parts.map((part) => (part.reference === undefined ? part.text : createLink(part, getHref))));
  }
}

function createLink({ text, reference }: TextPart, getHref: NumberHref): HTMLAnchorElement {
  const link = document.createElement('a');
  link.href = getHref(reference?.number ?? 0, reference?.repository);
  link.textContent = text;
  return link;
}
