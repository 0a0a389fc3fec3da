import * as m from '#messages/state';

/** Labels of the kinds of jobs. */
const jobLabels: Readonly<Record<string, () => string>> = {
  'notify.deliver': m.sendNotification,
  'mail.deliver': m.passOnMail,
  'push.inbox': m.putIntoInbox,
  'downloads.tell': m.tellDownload,
};

/** Messages about failed jobs by kind. */
const failureLabels: Readonly<Record<string, (values: { readonly count: number }) => string>> = {
  'notify.deliver': m.notificationsFailed,
  'mail.deliver': m.mailsFailed,
  'push.inbox': m.inboxMessagesFailed,
  'downloads.tell': m.downloadsUntold,
};

/** Formats a heading: `6 notifications were not delivered`. */
export function formatFailure(kind: string, count: number): string {
  return failureLabels[kind]?.({ count }) ?? m.jobsFailed({ count, kind: formatJobKind(kind) });
}

/** Formats the number of failed jobs as a sentence; jobs of several kinds are `pieces of work`. */
export function formatGivenUp(kinds: readonly string[]): string {
  const count = kinds.length;
  return kinds.every((kind) => kind === 'notify.deliver') ? m.deliveriesGivenUp({ count }) : m.jobsGivenUp({ count });
}

/** Finds the page where a kind of job can be fixed, other than by a retry. */
export function findFixPage(kind: string): { readonly label: string; readonly to: string } | undefined {
  if (kind === 'notify.deliver') return { label: m.changeTheDestination(), to: '/delivery' };
  if (kind === 'mail.deliver') return { label: m.seeTheMails(), to: '/delivery/mails?state=dead' };
  return undefined;
}

/** Formats a kind of job; unknown kinds such as `uptime.beat` stay unchanged. */
export function formatJobKind(kind: string): string {
  return jobLabels[kind]?.() ?? kind;
}
