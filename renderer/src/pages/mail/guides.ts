import type { MailAccess } from '../../../../services/contracts/mail/api.ts';
import { formatFullTime } from '../../parts/text/format.ts';
import { buildCommands, hostAndPort, quoteShellWord } from './labels.ts';

/** A step of a guide, with text to copy. */
interface Step {
  readonly text: string;
  readonly copy?: string;
  /** Completes the name of the copy button. */
  readonly subject?: string;
}

/** Guide to set up one device or program. */
export interface Guide {
  readonly id: string;
  readonly title: string;
  /** The device is another computer, which cannot use a loopback address. */
  readonly isDevice?: true;
  readonly steps: readonly Step[];
}

interface ServerDetails {
  readonly host: string;
  readonly port: number;
  readonly to: string;
  readonly access: Pick<MailAccess, 'tls' | 'signIn'>;
}

export function formatTls(tls: MailAccess['tls']): string {
  return {
    off: 'None. Choose “no encryption” at the sender.',
    starttls: 'STARTTLS if the sender wishes',
    required: 'STARTTLS, and no mail without it',
    implicit: 'SSL/TLS from the first byte',
  }[tls];
}

export function formatSignIn({ signIn, logins }: Pick<MailAccess, 'signIn' | 'logins'>): string {
  if (signIn === 'off') return 'None. Leave user and password empty.';
  const loginDescription =
    logins === 0
      ? 'an account of this app'
      : `one of ${String(logins)} ${logins === 1 ? 'login' : 'logins'} in the settings, or an account of this app`;
  return signIn === 'required' ? `Needed: ${loginDescription}` : `Possible: ${loginDescription}`;
}

/** Formats the state of the certificate, with a tone for problems. */
export function formatCertificate(
  { names, issuer, until, error }: NonNullable<MailAccess['certificate']>,
  now: number,
): { readonly text: string; readonly tone: 'ok' | 'warn' | 'bad' } {
  if (error !== '') return { text: `Its certificate cannot be used. ${error}`, tone: 'bad' };
  const hosts = names.length === 0 ? 'no name' : names.join(', ');
  const signer = issuer === '' ? '' : `, signed by ${issuer}`;
  if (until === null) return { text: `Its certificate is for ${hosts}${signer}.`, tone: 'ok' };
  const days = Math.floor((until - now) / 86_400_000);
  if (days < 0) return { text: `Its certificate for ${hosts} ran out on ${formatFullTime(until)}.`, tone: 'bad' };
  const validity =
    days === 0 ? 'runs out today' : days === 1 ? 'is valid for one more day' : `is valid for ${String(days)} more days`;
  return { text: `Its certificate for ${hosts}${signer} ${validity}.`, tone: days < 14 ? 'warn' : 'ok' };
}

function buildMsmtpConfig({ host, port, access }: ServerDetails): string {
  const encrypted = access.tls === 'required' || access.tls === 'implicit';
  return [
    'defaults',
    'account homeport',
    `host ${host}`,
    `port ${String(port)}`,
    'from nas@home',
    ...(encrypted ? ['tls on', `tls_starttls ${access.tls === 'implicit' ? 'off' : 'on'}`] : ['tls off']),
    ...(access.signIn === 'required' ? ['auth on', 'user NAME', 'password PASSWORD'] : ['auth off']),
    'account default : homeport',
    '',
  ].join('\n');
}

/** Steps for the SMTP form of a device, with common field names. */
function buildFormSteps({ host, port, to, access }: ServerDetails): readonly Step[] {
  const connection = { off: 'None', starttls: 'None or STARTTLS', required: 'STARTTLS', implicit: 'SSL/TLS' }[
    access.tls
  ];
  return [
    { text: 'SMTP server:', copy: host, subject: 'the server' },
    { text: 'Port:', copy: String(port), subject: 'the port' },
    {
      text: `Secure connection: ${connection}. Authentication: ${access.signIn === 'required' ? 'on, with a login' : 'off'}.`,
    },
    { text: 'Recipient:', copy: to, subject: 'the recipient' },
    { text: 'Send the test mail that the form offers. It stands among the mails here a moment later.' },
  ];
}

/** Returns the guides for devices and programs. `host` is the host that this page was opened with. */
export function buildGuides(server: ServerDetails): readonly Guide[] {
  const { host, port, to, access } = server;
  const form = buildFormSteps(server);
  return [
    {
      id: 'nas',
      isDevice: true as const,
      title: 'A NAS (Synology, QNAP, TrueNAS, Unraid)',
      steps: [
        {
          text:
            'Open its notifications: Control Panel › Notification › Email (Synology), ' +
            'Notification Center › Service Account (QNAP), System › General › Email (TrueNAS), ' +
            'Settings › Notification (Unraid), and choose a custom SMTP server.',
        },
        ...form,
      ],
    },
    {
      id: 'proxmox',
      title: 'Proxmox VE',
      steps: [
        { text: 'Datacenter › Notifications › Add › SMTP.' },
        { text: 'Server:', copy: host, subject: 'the server' },
        {
          text: `Encryption: ${{ off: 'Insecure', starttls: 'Insecure', required: 'STARTTLS', implicit: 'TLS' }[access.tls]}. Port:`,
          copy: String(port),
          subject: 'the port',
        },
        {
          text: 'From Address: any, such as proxmox@home. Additional Recipient(s):',
          copy: to,
          subject: 'the recipient',
        },
        { text: 'Choose it as a target of the notification matcher, and press Test.' },
      ],
    },
    ...buildLinuxGuides(server),
    {
      id: 'camera',
      isDevice: true as const,
      title: 'A camera, printer or UPS',
      steps: [{ text: 'Look for “Email” or “SMTP” among its alarms or notifications.' }, ...form],
    },
    ...buildScriptGuides(server),
  ];
}

/** Returns the guides for msmtp, and for cron with msmtp. */
function buildLinuxGuides(server: ServerDetails): readonly Guide[] {
  const { to } = server;
  return [
    {
      id: 'msmtp',
      title: 'Linux with msmtp',
      steps: [
        { text: 'Put this into /etc/msmtprc:', copy: buildMsmtpConfig(server), subject: 'the configuration of msmtp' },
        {
          text: 'Send the first mail:',
          copy: `printf 'From: nas@home\\nSubject: Hello\\n\\nFirst light\\n' | msmtp ${to}`,
          subject: 'the command',
        },
      ],
    },
    {
      id: 'cron',
      title: 'cron',
      steps: [
        {
          text: 'Set up msmtp as above, and let it stand in for sendmail:',
          copy: 'sudo apt install msmtp-mta',
          subject: 'the command',
        },
        { text: 'Write this above the jobs of the crontab (crontab -e):', copy: `MAILTO=${to}`, subject: 'the line' },
        { text: 'Whatever a job prints comes as a notification; a job that prints nothing stays quiet.' },
      ],
    },
  ];
}

/** Returns the guides for curl and for the commands of other programs. */
function buildScriptGuides({ host, port, to, access }: ServerDetails): readonly Guide[] {
  const url = quoteShellWord(`${access.tls === 'implicit' ? 'smtps' : 'smtp'}://${hostAndPort(host, port)}`);
  return [
    {
      id: 'curl',
      title: 'A script with curl',
      steps: [
        {
          text: 'curl can send mail. Run this in a shell:',
          copy:
            `printf 'From: nas@home\\nSubject: Hello\\n\\nFirst light\\n' | ` +
            `curl -sS ${url} --mail-from nas@home --mail-rcpt ${to} -T -`,
          subject: 'the command',
        },
      ],
    },
    ...buildCommands(host, port, to).map(([name, command]) => ({
      id: `try ${name}`,
      title: `Try it with ${name}`,
      steps: [{ text: 'In a shell:', copy: command, subject: 'the command' }],
    })),
  ];
}
