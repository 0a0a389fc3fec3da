/** Splits a TEXT configuration into lines, each with its line break. */
function splitLines(text: string): readonly string[] {
  return text.split(/(?<=\r\n|\n|\r(?!\n))/);
}

/** Formats the statement of a destination. */
function formatStatement(url: string, tags: readonly string[]): string {
  return tags.length === 0 ? url : `${tags.join(',')}=${url}`;
}

/** Appends a destination. */
export function appendLine(text: string, url: string, tags: readonly string[]): string {
  const terminated = text === '' || /[\r\n]$/.test(text) ? text : `${text}\n`;
  return `${terminated}${formatStatement(url, tags)}\n`;
}

/** Replaces the destination of a line. */
export function replaceLine(text: string, line: number, url: string, tags: readonly string[]): string {
  return splitLines(text)
    .map((each, index) => (index === line - 1 ? formatStatement(url, tags) + (/[\r\n]+$/.exec(each)?.[0] ?? '') : each))
    .join('');
}

/** Removes a line. */
export function removeLine(text: string, line: number): string {
  return splitLines(text)
    .filter((_, index) => index !== line - 1)
    .join('');
}
