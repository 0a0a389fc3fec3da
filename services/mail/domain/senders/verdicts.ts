import type { NotificationType } from '../../../contracts/notify/notification.ts';
import type { Recogniser, Words } from './program.ts';

/** How the mails of one program are told apart by their subject, and what each means. Their text is never changed. */
interface Verdict {
  readonly subject: RegExp;
  /** A type, or how it is read from the mail; undefined leaves the usual one. */
  readonly type: NotificationType | ((match: RegExpExecArray, words: Words) => NotificationType | undefined);
}

const failure = /\b(?:fail\w*|error\w*|fatal|critical|unsuccessful|false|abnormal)\b/i;
const warning = /\b(?:warn\w*|partial\w*|reboot required|skipped|on hold)\b/i;
const success = /\b(?:success\w*|succeed\w*|ok|passed|completed|finished|true)\b/i;

function typeOfOutcome(text: string): NotificationType | undefined {
  if (failure.test(text)) return 'failure';
  if (warning.test(text)) return 'warning';
  return success.test(text) ? 'success' : undefined;
}

/** ZFS says in its status whether data was lost. */
function typeOfPool({ text }: Words): NotificationType {
  if (/\b(?:FAULTED|UNAVAIL|SUSPENDED)\b|Permanent errors/.test(text)) return 'failure';
  if (/\bDEGRADED\b|one or more devices/i.test(text)) return 'warning';
  return /No known data errors/i.test(text) ? 'success' : 'warning';
}

const verdicts: readonly Verdict[] = [
  // ZFS event daemon: `ZFS scrub_finish event for tank on nas`, `ZFS device fault for pool tank on nas`.
  { subject: /^ZFS (?:scrub|resilver|trim)_finish event for \S+ on \S+/i, type: (_match, words) => typeOfPool(words) },
  { subject: /^ZFS (?:device fault|data error|checksum|io failure|\w+ error)\b/i, type: 'failure' },
  { subject: /^ZFS statechange\b/i, type: (_match, words) => typeOfPool(words) },
  // Proxmox: replication and fencing (VE), garbage collection, verification, sync, prune (Backup Server).
  {
    subject:
      /^(?:Replication Job:? |Garbage Collect |Verify |Sync |Prune |Prune datastore |Tape Backup |Package update)(.+)$/i,
    type: ([, outcome = '']) => typeOfOutcome(outcome),
  },
  { subject: /^FENCE: /, type: 'failure' },
  { subject: /^SUCCEED: fencing/i, type: 'success' },
  // TrueNAS: new alerts, and those that are gone.
  {
    subject: /^(?:TrueNAS|FreeNAS)\b.*\balerts?\b/i,
    type: (_match, { text }) => (/^\s*(?:new|current) alerts?\b/im.test(text) ? 'warning' : 'success'),
  },
  // Unraid: `Alert [TOWER] - Disk 1 in error state`, perhaps behind `Unraid Status: `.
  {
    subject: /^(?:Unraid [\w ]{1,40}: )?(Notice|Warning|Alert) \[/i,
    type: ([, level = '']) => (/^alert/i.test(level) ? 'failure' : /^warning/i.test(level) ? 'warning' : 'info'),
  },
  // UPS: apcupsd and NUT.
  {
    subject: /\b(?:power has returned|on line power|back on (?:line|mains|utility)|communications? .*established)/i,
    type: 'success',
  },
  {
    subject: /\b(?:power failure|on battery|running on batteries|battery (?:is )?low|low battery|needs changing)\b/i,
    type: 'failure',
  },
  {
    subject: /\bUPS\b.*\b(?:communications? .*lost|unavailable|lost)\b|\bcommunications? with UPS .*lost/i,
    type: 'warning',
  },
  // fail2ban.
  { subject: /^\[Fail2Ban\] \S+: banned /i, type: 'warning' },
  { subject: /^\[Fail2Ban\] /i, type: 'info' },
  // unattended-upgrades: `[reboot required] unattended-upgrades result for nas: SUCCESS`.
  { subject: /^(.*)unattended-upgrades result for .*$/i, type: ([all]) => typeOfOutcome(all) },
  // Duplicati names the result in its text unless the subject does.
  {
    subject: /^Duplicati\b(.*)$/i,
    type: ([, rest = ''], { text }) =>
      typeOfOutcome(rest) ?? typeOfOutcome(/^ParsedResult:\s*(\w+)/im.exec(text)?.[1] ?? ''),
  },
  // Nagios and Icinga: `** PROBLEM Service Alert: nas/disk is CRITICAL **`.
  { subject: /^\*\* ?PROBLEM\b.*\bWARNING\b/, type: 'warning' },
  { subject: /^\*\* ?PROBLEM\b/, type: 'failure' },
  { subject: /^\*\* ?RECOVERY\b/, type: 'success' },
  // Anacron warns where the output speaks of an error, as cron does.
  {
    subject: /^Anacron job '.+' on \S+/i,
    type: (_match, { text }) => (failure.test(text) ? 'warning' : undefined),
  },
  // Scripts for borg, restic and rsync: the outcome behind a colon or a dash, or in brackets, at the end.
  {
    subject:
      /(?::|[-–|]|[([])\s*\W{0,4}(failed|failure|error|errors|success|successful|succeeded|ok|warning|warnings)\W{0,4}$/i,
    type: ([, outcome = '']) => typeOfOutcome(outcome),
  },
];

/** A mail whose subject tells how things went, in the words of a program that is known. */
export const verdict: Recogniser = (words) => {
  for (const { subject, type } of verdicts) {
    const match = subject.exec(words.subject);
    if (match === null) continue;
    const found = typeof type === 'string' ? type : type(match, words);
    return found === undefined ? undefined : { type: found };
  }
  return undefined;
};
