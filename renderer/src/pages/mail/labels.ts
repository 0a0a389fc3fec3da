import * as m from '#messages/mail';
import { capitalize, formatList } from '../../../../messages/format.ts';
import type { SpooledMail } from '../../../../services/contracts/mail/api.ts';
import type { IconName } from '../../icons/icons.ts';
import { formatKey, defaultKey } from '../notify/keys/key-name.ts';

/**
 * Label, tone and icon of the state of a mail or a delivery. A further service may still deliver it later or fail,
 * which the history of Delivery shows.
 */
export const outcomes = {
  done: { label: m.passedOn, tone: 'ok', icon: 'check' },
  waiting: { label: m.waiting, tone: 'warn', icon: 'clock' },
  dead: { label: m.givenUp, tone: 'bad', icon: 'alert' },
  dropped: { label: m.dropped, tone: 'plain', icon: 'close' },
  unknown: { label: m.notKnown, tone: 'plain', icon: 'info' },
} as const satisfies Record<
  SpooledMail['state'],
  { readonly label: () => string; readonly tone: string; readonly icon: IconName }
>;

/** Parses an address such as `smtp://192.168.1.20:8025`. */
export function parseServerAddress(address: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(address);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** An entry of the setting `recipients`. */
export interface Recipient {
  readonly address: string;
  readonly to: string;
  /** Addresses with secrets: the host only reports whether there are any. */
  readonly destinations: string | { readonly set: boolean };
  readonly title: string;
  readonly body: string;
  readonly format: 'as it comes' | 'text' | 'markdown' | 'html';
}

/** Returns the formats of a recipient's text and their labels. */
export function listFormats(): readonly (readonly [Recipient['format'], string])[] {
  return [
    ['as it comes', m.asItComes()],
    ['text', m.plainText()],
    ['markdown', m.markdown()],
    ['html', m.html()],
  ];
}

export const newRecipient: Recipient = {
  address: '',
  to: `notify://${defaultKey}`,
  destinations: '',
  title: '',
  body: '',
  format: 'as it comes',
};

/** Formats the targets of a recipient's mail. */
function formatRecipientTargets({ to, destinations }: Recipient): string {
  const others = typeof destinations === 'object' ? destinations.set : destinations !== '';
  return formatList(
    [...to.split(/\s+/).map(formatTarget), others ? m.otherDestinations() : ''].filter((target) => target !== ''),
  );
}

/** Formats the targets of a mail without duplicates. */
export function formatTargets(targets: readonly string[]): string {
  return formatList([...new Set(targets.map(formatTarget))]);
}

/** Returns the icon of the service that receives a mail first. */
export function findTargetIcon([target = '']: readonly string[]): IconName {
  const [scheme = ''] = target.split('://');
  return scheme === 'inbox' || scheme === 'push' || scheme === 'notify' ? scheme : 'mail';
}

/** Formats an address such as `notify://servers?tag=ops`; an unknown kind of address stays unchanged. */
export function formatTarget(address: string): string {
  const [, scheme = '', name = '', tag = ''] = /^(notify|push|inbox):\/\/([^?]*)(?:\?tag=(.*))?$/.exec(address) ?? [];
  if (scheme === 'inbox') return m.inboxTarget();
  if (scheme === 'push' && name !== '') return m.theTopicName({ name });
  if (scheme === 'notify' && name !== '')
    return tag === ''
      ? m.theKeyName({ name: formatKey(name) })
      : m.keyWithTag({ key: m.theKeyName({ name: formatKey(name) }), tag });
  return address;
}

/** Returns the recipient for examples and test mails. */
export function findExampleRecipient(recipients: readonly Recipient[]): Recipient | undefined {
  return recipients.find(({ address }) => address === 'alerts') ?? recipients[0];
}

/** An entry of the setting `rules`. */
export interface Rule {
  readonly from: string;
  readonly subject: string;
  readonly to: string;
  readonly drop: boolean;
  readonly type: 'as it is' | 'info' | 'success' | 'warning' | 'failure';
  readonly priority: number;
  readonly tag: string;
  readonly goesTo: string;
}

/** Returns the types that a rule may give a mail and their labels. */
export function listTypes(): readonly (readonly [Rule['type'], string])[] {
  return [
    ['as it is', m.asItIs()],
    ['info', m.info()],
    ['success', m.success()],
    ['warning', m.warning()],
    ['failure', m.failure()],
  ];
}

/** Returns the label of a type; of an unknown one, the type itself. */
export function getTypeLabel(type: string): string {
  return listTypes().find(([each]) => each === type)?.[1] ?? type;
}

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

/** Formats the condition of a rule. */
export function formatCondition({ from, subject, to }: Rule): string {
  const parts = [
    from === '' ? '' : m.conditionFrom({ from }),
    to === '' ? '' : m.conditionTo({ to }),
    subject === '' ? '' : m.conditionSubject({ subject }),
  ].filter((part) => part !== '');
  return parts.length === 0 ? m.everyMail() : m.mailThat({ conditions: formatList(parts, 'unit') });
}

/** Formats the effect of a rule. */
export function formatEffect({ drop, type, priority, tag, goesTo }: Rule): string {
  if (drop) return m.isDroppedNobodyIsTold();
  const parts = [
    type === 'as it is' ? '' : m.becomesType({ type: getTypeLabel(type) }),
    priority === 0 ? '' : m.getsPriority({ priority: String(priority) }),
    tag === '' ? '' : m.getsTag({ tag }),
    goesTo === '' ? '' : m.goesToTarget({ target: formatTarget(goesTo) }),
  ].filter((part) => part !== '');
  return capitalize(parts.length === 0 ? m.staysAsItIs() : formatList(parts, 'unit'));
}

/** Formats the meaning of a pattern: `backup-… at any domain that ends in .lan`. */
export function formatPattern(pattern: string): string {
  const atSign = pattern.lastIndexOf('@');
  const name = atSign === -1 ? pattern : pattern.slice(0, atSign);
  const domain = atSign === -1 ? '' : pattern.slice(atSign + 1);
  const nameText = name === '*' ? m.everyName() : /[*?]/.test(name) ? m.namesLike({ name }) : name;
  if (domain === '' || domain === '*') return m.nameAtAnyDomain({ name: nameText });
  return /[*?]/.test(domain)
    ? m.nameAtDomainsLike({ name: nameText, domain })
    : m.nameAtDomain({ name: nameText, domain });
}

/** Formats the targets of a recipient for a row that shows its address. */
export function formatRowTargets(recipient: Recipient): string {
  const targets = formatRecipientTargets(recipient);
  return recipient.address.includes('@') ? m.goesToTargets({ targets }) : m.anyDomainGoesToTargets({ targets });
}

/** Returns an example address that matches a pattern. */
export function buildExampleAddress(pattern: string): string {
  const example = pattern.replaceAll('*', 'nas').replaceAll('?', '1');
  return example.includes('@') ? example : `${example}@home`;
}

/** Joins host and port; an IPv6 address is put in brackets. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${String(port)}` : `${host}:${String(port)}`;
}

/** Quotes a word for a shell if it contains brackets, which are patterns in some shells. */
export function quoteShellWord(word: string): string {
  return word.includes('[') ? `'${word}'` : word;
}

/** Returns shell commands that send a mail to this gateway. `to` is an address without quotes and white space. */
export function buildCommands(host: string, port: number, to: string) {
  const address = to.replace(/[^A-Za-z0-9@._+-]/g, '');
  const server = quoteShellWord(hostAndPort(host, port));
  return [
    [
      'swaks',
      `swaks --server ${server} --to ${address} --from nas@home --header 'Subject: Hello' --body 'First light'`,
    ],
    [
      'msmtp',
      `printf 'Subject: Hello\\n\\nFirst light\\n' | msmtp --host=${host} --port=${String(port)} --from=nas@home ${address}`,
    ],
    [
      'sendmail (BusyBox)',
      `printf 'Subject: Hello\\n\\nFirst light\\n' | sendmail -S ${server} -f nas@home ${address}`,
    ],
  ] as const;
}
