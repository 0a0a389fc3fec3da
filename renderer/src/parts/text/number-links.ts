/** A number of an issue or a pull request, as people write it: not within a word, an address or another number. */
const number = /(?<![\w/&#.-])#([1-9]\d{0,8})(?![\w-])/g;
/** Words and the digits of such numbers by turns: every second part is a number that was found. */
export function splitNumbers(text: string): string[] {
  return text.split(number);
}

const leftAlone = 'a, code, pre, kbd, samp';

/** Makes each `#12` of a text a link of this app, but for those in code and in links. */
export function linkNumbers(content: DocumentFragment, hrefOf: (number: number) => string): void {
  const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) texts.push(node as Text);
  for (const text of texts) {
    if (text.parentElement?.closest(leftAlone)) continue;
    const parts = splitNumbers(text.data);
    if (parts.length === 1) continue;
    text.replaceWith(...parts.map((part, at) => (at % 2 === 0 ? part : linkTo(part, hrefOf))));
  }
}

function linkTo(digits: string, hrefOf: (number: number) => string): HTMLAnchorElement {
  const link = document.createElement('a');
  link.href = hrefOf(Number(digits));
  link.textContent = `#${digits}`;
  return link;
}
