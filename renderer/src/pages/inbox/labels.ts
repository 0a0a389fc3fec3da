/** So many messages, as a sentence begins with them. */
export function messages(count: number): string {
  return count === 1 ? 'Message' : `${count.toLocaleString('en')} messages`;
}

/** A mail's title without the sender it ends with, and who that is; all of the title where it ends otherwise. */
export function titleAndSender(title: string): { readonly title: string; readonly sender: string } {
  const [, words, sender] = /^(.*\S)\s+\(([^\s()]+@[^\s()]+)\)$/.exec(title) ?? [];
  return words === undefined || sender === undefined ? { title, sender: '' } : { title: words, sender };
}
