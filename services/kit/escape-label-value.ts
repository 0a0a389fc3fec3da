/** Escapes a label value for the text format of Prometheus metrics. */
export function escapeLabelValue(text: string): string {
  return text.replace(/[\\\n"]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}
