/** What the kinds of durable work do, in a person's words. */
const words: Readonly<Record<string, string>> = {
  'notify.deliver': 'Send a notification',
  'mail.deliver': 'Pass on a mail',
  'push.inbox': 'Put a message into the inbox',
  'downloads.tell': 'Tell of a finished download',
};

/** A kind of work in words; one that has none is taken by its own name, such as `uptime.beat`. */
export function workOf(kind: string): string {
  return words[kind] ?? kind;
}
