import type { SpooledMail } from '../../../../services/contracts/mail/api.ts';
import type { IconName } from '../../parts/text/icons.ts';
import { keyName, usualKey } from '../notify/key-name.ts';

/**
 * What became of a mail or of one delivery, in a word, a tone and a sign. Who takes it from here may deliver it later or not at all,
 * which the history of Delivery tells.
 */
export const outcomes = {
  done: { words: 'Passed on', tone: 'ok', sign: 'check' },
  waiting: { words: 'Waiting', tone: 'warn', sign: 'clock' },
  dead: { words: 'Given up', tone: 'bad', sign: 'alert' },
  dropped: { words: 'Dropped', tone: 'plain', sign: 'close' },
  unknown: { words: 'Not known', tone: 'plain', sign: 'info' },
} as const satisfies Record<
  SpooledMail['state'],
  { readonly words: string; readonly tone: string; readonly sign: IconName }
>;

/** What a sender is told of an address such as `smtp://192.168.1.20:8025`. */
export function placeOf(address: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(address);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** A row of the setting `recipients`. */
export interface Recipient {
  readonly address: string;
  readonly to: string;
  /** Addresses that hold secrets: shown is only whether there are any. */
  readonly destinations: string | { readonly set: boolean };
  readonly title: string;
  readonly body: string;
  readonly format: (typeof formats)[number][0];
}

export const formats = [
  ['as it comes', 'As it comes'],
  ['text', 'Plain text'],
  ['markdown', 'Markdown'],
  ['html', 'HTML'],
] as const;

export const newRecipient: Recipient = {
  address: '',
  to: `notify://${usualKey}`,
  destinations: '',
  title: '',
  body: '',
  format: 'as it comes',
};

/** Where mail of a recipient goes, in a line. */
function goalsOf({ to, destinations }: Recipient): string {
  const others = typeof destinations === 'object' ? destinations.set : destinations !== '';
  return listOf([...to.split(/\s+/).map(goalOf), others ? 'other destinations' : ''].filter((goal) => goal !== ''));
}

/** Where a mail went, in a line: each place once. */
export function goalsWords(targets: readonly string[]): string {
  return listOf([...new Set(targets.map(goalOf))]);
}

function listOf(goals: readonly string[]): string {
  return new Intl.ListFormat('en').format(goals);
}

/** What an address such as `notify://servers?tag=ops` stands for; one of another kind stays as it is. */
export function goalOf(address: string): string {
  const [, scheme = '', name = '', tag = ''] = /^(notify|push|inbox):\/\/([^?]*)(?:\?tag=(.*))?$/.exec(address) ?? [];
  if (scheme === 'inbox') return 'the inbox';
  if (scheme === 'push' && name !== '') return `the topic ${name}`;
  if (scheme === 'notify' && name !== '') return tag === '' ? keyName(name) : `${keyName(name)} with the tag ${tag}`;
  return address;
}

/** The recipient that examples and tests are written to. */
export function usualRecipient(recipients: readonly Recipient[]): Recipient | undefined {
  return recipients.find(({ address }) => address === 'alerts') ?? recipients[0];
}

/** A row of the setting `rules`. */
export interface Rule {
  readonly from: string;
  readonly subject: string;
  readonly to: string;
  readonly drop: boolean;
  readonly type: (typeof types)[number][0];
  readonly priority: number;
  readonly tag: string;
  readonly goesTo: string;
}

export const types = [
  ['as it is', 'As it is'],
  ['info', 'Info'],
  ['success', 'Success'],
  ['warning', 'Warning'],
  ['failure', 'Failure'],
] as const;

export const newRule: Rule = {
  from: '',
  subject: '',
  to: '',
  drop: false,
  type: 'as it is',
  priority: 0,
  tag: '',
  goesTo: '',
};

/** Which mails a rule is for, as a sentence's beginning. */
export function conditionOf({ from, subject, to }: Rule): string {
  const parts = [
    from === '' ? '' : `from ${from}`,
    to === '' ? '' : `to ${to}`,
    subject === '' ? '' : `about “${subject}”`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'Every mail' : `Mail ${parts.join(', ')}`;
}

/** What a rule does, as a line of its own. */
export function effectOf({ drop, type, priority, tag, goesTo }: Rule): string {
  if (drop) return 'Is dropped, nobody is told';
  const parts = [
    type === 'as it is' ? '' : `becomes ${type}`,
    priority === 0 ? '' : `gets priority ${String(priority)}`,
    tag === '' ? '' : `gets the tag ${tag}`,
    goesTo === '' ? '' : `goes to ${goalOf(goesTo)}`,
  ].filter((part) => part !== '');
  return (parts.length === 0 ? 'stays as it is' : parts.join(', ')).replace(/^./, (first) => first.toUpperCase());
}

/** What a pattern stands for, in a sentence's words: `backup-… at any domain that ends in .lan`. */
export function meaningOf(pattern: string): string {
  const at = pattern.lastIndexOf('@');
  const name = at === -1 ? pattern : pattern.slice(0, at);
  const domain = at === -1 ? '' : pattern.slice(at + 1);
  const who = name === '*' ? 'Every name' : /[*?]/.test(name) ? `Names like ${name}` : name;
  const where =
    domain === '' || domain === '*'
      ? 'at any domain'
      : /[*?]/.test(domain)
        ? `at domains like ${domain}`
        : `at ${domain}`;
  return `${who} ${where}`;
}

/** Where mail to a recipient goes, for a row that shows its address. */
export function destinyOf(recipient: Recipient): string {
  const goals = goalsOf(recipient);
  return recipient.address.includes('@') ? `Goes to ${goals}` : `At any domain · goes to ${goals}`;
}

/** An address that fits a pattern, to be tried. */
export function exampleOf(pattern: string): string {
  const filled = pattern.replaceAll('*', 'nas').replaceAll('?', '1');
  return filled.includes('@') ? filled : `${filled}@home`;
}

/** Host and port in one word: the colons of an address of IPv6 are not the one before a port. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${String(port)}` : `${host}:${String(port)}`;
}

/** A place or URL for a shell: brackets are a pattern to some. */
export function shellWord(word: string): string {
  return word.includes('[') ? `'${word}'` : word;
}

/** How programs send a mail to this gateway, ready for a shell. `to` is an address without quotes and white space. */
export function commandsOf(host: string, port: number, to: string) {
  const address = to.replace(/[^A-Za-z0-9@._+-]/g, '');
  const place = shellWord(hostAndPort(host, port));
  return [
    ['swaks', `swaks --server ${place} --to ${address} --from nas@home --header 'Subject: Hello' --body 'First light'`],
    [
      'msmtp',
      `printf 'Subject: Hello\\n\\nFirst light\\n' | msmtp --host=${host} --port=${String(port)} --from=nas@home ${address}`,
    ],
    ['sendmail (BusyBox)', `printf 'Subject: Hello\\n\\nFirst light\\n' | sendmail -S ${place} -f nas@home ${address}`],
  ] as const;
}
