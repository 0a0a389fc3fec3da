import type { NotificationType } from '../../../contracts/notify/notification.ts';
import type { Recognizer, MailText } from './program.ts';

/** Subject pattern of one program's mails and the resulting type. The text is not changed. */
interface OutcomeRule {
  readonly subject: RegExp;
  /** Type, or a function of the mail; undefined keeps the default. */
  readonly type: NotificationType | ((match: RegExpExecArray, words: MailText) => NotificationType | undefined);
}

const failurePattern = /\b(?:fail\w*|error\w*|fatal|critical|unsuccessful|false|abnormal)\b/i;
const warningPattern = /\b(?:warn\w*|partial\w*|reboot required|skipped|on hold)\b/i;
const successPattern = /\b(?:success\w*|succeed\w*|ok|passed|completed|finished|true)\b/i;

function toType(text: string): NotificationType | undefined {
  if (failurePattern.test(text)) return 'failure';
  if (warningPattern.test(text)) return 'warning';
  return successPattern.test(text) ? 'success' : undefined;
}

/** Returns the type of a ZFS status, which states whether data was lost. */
function getPoolType({ text }: MailText): NotificationType {
  if (/\b(?:FAULTED|UNAVAIL|SUSPENDED)\b|Permanent errors/.test(text)) return 'failure';
  if (/\bDEGRADED\b|one or more devices/i.test(text)) return 'warning';
  return /No known data errors/i.test(text) ? 'success' : 'warning';
}

const outcomeRules: readonly OutcomeRule[] = [
  // ZFS event daemon: `ZFS scrub_finish event for tank on nas`, `ZFS device fault for pool tank on nas`.
  { subject: /^ZFS (?:scrub|resilver|trim)_finish event for \S+ on \S+/i, type: (_match, words) => getPoolType(words) },
  { subject: /^ZFS (?:device fault|data error|checksum|io failure|\w+ error)\b/i, type: 'failure' },
  { subject: /^ZFS statechange\b/i, type: (_match, words) => getPoolType(words) },
  // Proxmox: replication and fencing (VE); garbage collection, verification, sync and prune (Backup Server).
  {
    subject:
      /^(?:Replication Job:? |Garbage Collect |Verify |Sync |Prune |Prune datastore |Tape Backup |Package update)(.+)$/i,
    type: ([, outcome = '']) => toType(outcome),
  },
  { subject: /^FENCE: /, type: 'failure' },
  { subject: /^SUCCEED: fencing/i, type: 'success' },
  // TrueNAS: new and cleared alerts.
  {
    subject: /^(?:TrueNAS|FreeNAS)\b.*\balerts?\b/i,
    type: (_match, { text }) => (/^\s*(?:new|current) alerts?\b/im.test(text) ? 'warning' : 'success'),
  },
  // Unraid: `Alert [TOWER] - Disk 1 in error state`, possibly after `Unraid Status: `.
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
  { subject: /^(.*)unattended-upgrades result for .*$/i, type: ([resultText]) => toType(resultText) },
  // Duplicati states the result in its text, or in the subject.
  {
    subject: /^Duplicati\b(.*)$/i,
    type: ([, outcomeText = ''], { text }) =>
      toType(outcomeText) ?? toType(/^ParsedResult:\s*(\w+)/im.exec(text)?.[1] ?? ''),
  },
  // Nagios and Icinga: `** PROBLEM Service Alert: nas/disk is CRITICAL **`.
  { subject: /^\*\* ?PROBLEM\b.*\bWARNING\b/, type: 'warning' },
  { subject: /^\*\* ?PROBLEM\b/, type: 'failure' },
  { subject: /^\*\* ?RECOVERY\b/, type: 'success' },
  // Anacron: a warning when the output contains an error, like cron.
  {
    subject: /^Anacron job '.+' on \S+/i,
    type: (_match, { text }) => (failurePattern.test(text) ? 'warning' : undefined),
  },
  // Netdata: `nas is critical - disk space`, `nas needs attention - …`, `nas recovered - …`.
  { subject: /^\S+ is critical\b/i, type: 'failure' },
  { subject: /^\S+ needs attention\b/i, type: 'warning' },
  { subject: /^\S+ recovered\b/i, type: 'success' },
  // Monit: `monit alert --  Does not exist sshd`, `monit alert --  Connection succeeded web`.
  { subject: /^monit alert --\s+.*\b(?:succeeded|exists)\b/i, type: 'success' },
  { subject: /^monit alert --\s+.*\b(?:failed|does not exist|timeout|limit matched)\b/i, type: 'failure' },
  { subject: /\bwarnings found for\b/i, type: 'warning' },
  // Scripts that write the outcome in capitals, and sentences about backups and other jobs.
  { subject: /\b(?:FAILED|FAILURE|ERROR|CRITICAL)\b/, type: 'failure' },
  { subject: /\bSUCCESS(?:FUL)?\b/, type: 'success' },
  {
    subject:
      /^(?!.*\b(?:0|no|none|nothing|never|not|without)\b)(?=.*\b(?:backups?|snapshots?|sync|replication|restore|scrub|borgmatic|restic|rsync|jobs?|tasks?)\b).*\b(failed|failure|successful|successfully|succeeded|with errors?|with warnings?)\b/i,
    type: ([, outcome = '']) => toType(outcome),
  },
  // Scripts for borg, restic and rsync: the outcome at the end, after a colon or dash, or in brackets.
  {
    subject:
      /(?::|[-–|]|[([])\s*\W{0,4}(failed|failure|error|errors|success|successful|succeeded|ok|warning|warnings)\W{0,4}$/i,
    type: ([, outcome = '']) => toType(outcome),
  },
];

/** Mail whose subject contains the outcome in the words of a known program. */
export const knownOutcome: Recognizer = (words) => {
  for (const { subject, type } of outcomeRules) {
    const match = subject.exec(words.subject);
    if (match === null) continue;
    const outcomeType = typeof type === 'string' ? type : type(match, words);
    return outcomeType === undefined ? undefined : { type: outcomeType };
  }
  return undefined;
};
