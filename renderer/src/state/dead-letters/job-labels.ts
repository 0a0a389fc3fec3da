/** Labels of the kinds of jobs. */
const jobLabels: Readonly<Record<string, string>> = {
  'notify.deliver': 'Send a notification',
  'mail.deliver': 'Pass on a mail',
  'push.inbox': 'Put a message into the inbox',
  'downloads.tell': 'Tell of a finished download',
};

/** Messages about failed jobs by kind, in singular and plural; the number is added in front of the plural. */
const failureLabels: Readonly<Record<string, readonly [one: string, many: string]>> = {
  'notify.deliver': ['A notification was not delivered', 'notifications were not delivered'],
  'mail.deliver': ['A mail was not passed on', 'mails were not passed on'],
  'push.inbox': ['A message did not reach the inbox', 'messages did not reach the inbox'],
  'downloads.tell': ['A finished download was not told of', 'finished downloads were not told of'],
};

/** Formats a heading: `6 notifications were not delivered`. */
export function formatFailure(kind: string, count: number): string {
  const [singular, plural] = failureLabels[kind] ?? [formatJobKind(kind), `times: ${formatJobKind(kind)}`];
  return count === 1 ? singular : `${count.toLocaleString('en')} ${plural}`;
}

/** Formats the number of failed jobs as the subject of a sentence; jobs of several kinds are `pieces of work`. */
export function formatCount(kinds: readonly string[]): string {
  const [singular, plural] = kinds.every((kind) => kind === 'notify.deliver')
    ? ['One delivery was', 'deliveries were']
    : ['One piece of work was', 'pieces of work were'];
  return kinds.length === 1 ? singular : `${kinds.length.toLocaleString('en')} ${plural}`;
}

/** Finds the page where a kind of job can be fixed, other than by a retry. */
export function findFixPage(kind: string): { readonly label: string; readonly to: string } | undefined {
  if (kind === 'notify.deliver') return { label: 'Change the destination', to: '/delivery/problems' };
  if (kind === 'mail.deliver') return { label: 'See the mails', to: '/delivery/mails?state=dead' };
  return undefined;
}

/** Formats a kind of job; unknown kinds such as `uptime.beat` stay unchanged. */
export function formatJobKind(kind: string): string {
  return jobLabels[kind] ?? kind;
}
