/** What the kinds of durable work do, in a person's words. */
const words: Readonly<Record<string, string>> = {
  'notify.deliver': 'Send a notification',
  'mail.deliver': 'Pass on a mail',
  'push.inbox': 'Put a message into the inbox',
  'downloads.tell': 'Tell of a finished download',
};

/** Work of which so many failed, as the subject of a sentence; of several kinds: `pieces of work`. */
export function countOf(kinds: readonly string[]): string {
  const [one, many] = kinds.every((kind) => kind === 'notify.deliver')
    ? ['One delivery was', 'deliveries were']
    : ['One piece of work was', 'pieces of work were'];
  return kinds.length === 1 ? one : `${kinds.length.toLocaleString('en')} ${many}`;
}

/** Where somebody can do something about a kind of work besides another try. */
export function placeOfWork(kind: string): { readonly label: string; readonly to: string } | undefined {
  if (kind === 'notify.deliver') return { label: 'Change the destination', to: '/delivery/problems' };
  if (kind === 'mail.deliver') return { label: 'See the mails', to: '/delivery/mails?state=dead' };
  return undefined;
}

/** A kind of work in words; one that has none is taken by its own name, such as `uptime.beat`. */
export function workOf(kind: string): string {
  return words[kind] ?? kind;
}
