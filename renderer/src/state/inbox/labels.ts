/** Splits the title of a mail into title and sender, where it ends with one. */
export function splitSender(title: string): { readonly title: string; readonly sender: string } {
  const [, text, sender] = /^(.*\S)\s+\(([^\s()]+@[^\s()]+)\)$/.exec(title) ?? [];
  return text === undefined || sender === undefined ? { title, sender: '' } : { title: text, sender };
}
