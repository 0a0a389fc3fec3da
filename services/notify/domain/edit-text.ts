/** The lines of a TEXT configuration, each with the line break that ends it. */
function splitLines(text: string): readonly string[] {
  return text.split(/(?<=\r\n|\n|\r(?!\n))/);
}

/** The statement for a destination. */
function formatStatement(url: string, tags: readonly string[]): string {
  return tags.length === 0 ? url : `${tags.join(',')}=${url}`;
}

/** The text with a destination more at its end. */
export function appendLine(text: string, url: string, tags: readonly string[]): string {
  const terminated = text === '' || /[\r\n]$/.test(text) ? text : `${text}\n`;
  return `${terminated}${formatStatement(url, tags)}\n`;
}

/** The text with another destination in a line, everything else as it was. */
export function replaceLine(text: string, line: number, url: string, tags: readonly string[]): string {
  return splitLines(text)
    .map((each, index) => (index === line - 1 ? formatStatement(url, tags) + (/[\r\n]+$/.exec(each)?.[0] ?? '') : each))
    .join('');
}

/** The text without a line. */
export function removeLine(text: string, line: number): string {
  return splitLines(text)
    .filter((_, index) => index !== line - 1)
    .join('');
}
