/** So many messages, as a sentence begins with them. */
export function messages(count: number): string {
  return count === 1 ? 'Message' : `${count.toLocaleString('en')} messages`;
}
