/** What the kinds of durable work do, in a person's words. */
const words: Readonly<Record<string, string>> = {
  'notify.deliver': 'Send a notification',
  'mail.deliver': 'Pass on a mail',
  'push.inbox': 'Put a message into the inbox',
  'downloads.tell': 'Tell of a finished download',
};

/** What became of a kind of work that was given up, of one and of many; the number of these is left open. */
const outcomes: Readonly<Record<string, readonly [one: string, many: string]>> = {
  'notify.deliver': ['A notification was not delivered', 'notifications were not delivered'],
  'mail.deliver': ['A mail was not passed on', 'mails were not passed on'],
  'push.inbox': ['A message did not reach the inbox', 'messages did not reach the inbox'],
  'downloads.tell': ['A finished download was not told of', 'finished downloads were not told of'],
};

/** What is wrong, as a heading: `6 notifications were not delivered`. */
export function givenUpWords(kind: string, count: number): string {
  const [one, many] = outcomes[kind] ?? [workOf(kind), `times: ${workOf(kind)}`];
  return count === 1 ? one : `${count.toLocaleString('en')} ${many}`;
}

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
