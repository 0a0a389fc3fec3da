/** Number of an issue or a pull request in a text: not within a word, an address or another number. */
const number = /(?<![\w/&#.-])#([1-9]\d{0,8})(?![\w-])/g;
/** Splits a text into text and the digits of such numbers, alternating. */
export function splitNumbers(text: string): string[] {
  return text.split(number);
}

const skippedElements = 'a, code, pre, kbd, samp';

/** Replaces each `#12` of a text by a link, except in code and links. */
export function linkNumbers(content: DocumentFragment, getHref: (number: number) => string): void {
  const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) texts.push(node as Text);
  for (const text of texts) {
    if (text.parentElement?.closest(skippedElements)) continue;
    const parts = splitNumbers(text.data);
    if (parts.length === 1) continue;
    text.replaceWith(...parts.map((part, index) => (index % 2 === 0 ? part : createLink(part, getHref))));
  }
}

function createLink(digits: string, getHref: (number: number) => string): HTMLAnchorElement {
  const link = document.createElement('a');
  link.href = getHref(Number(digits));
  link.textContent = `#${digits}`;
  return link;
}
