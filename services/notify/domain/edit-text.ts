/** The lines of a TEXT configuration, each with the line break that ends it. */
function linesOf(text: string): readonly string[] {
  return text.split(/(?<=\r\n|\n|\r(?!\n))/);
}

/** The statement for a destination. */
function statement(url: string, tags: readonly string[]): string {
  return tags.length === 0 ? url : `${tags.join(',')}=${url}`;
}

/** The text with a destination more at its end. */
export function withDestination(text: string, url: string, tags: readonly string[]): string {
  const ended = text === '' || /[\r\n]$/.test(text) ? text : `${text}\n`;
  return `${ended}${statement(url, tags)}\n`;
}

/** The text with another destination in a line, everything else as it was. */
export function withLine(text: string, line: number, url: string, tags: readonly string[]): string {
  return linesOf(text)
    .map((each, index) => (index === line - 1 ? statement(url, tags) + (/[\r\n]+$/.exec(each)?.[0] ?? '') : each))
    .join('');
}

/** The text without a line. */
export function withoutLine(text: string, line: number): string {
  return linesOf(text)
    .filter((_, index) => index !== line - 1)
    .join('');
}
