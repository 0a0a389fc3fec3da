import type { MailAccess } from '../../../../services/contracts/mail/api.ts';
import { formatFullTime } from '../../parts/text/format.ts';
import { buildCommands, hostAndPort, quoteShellWord } from './labels.ts';

/** A step of a guide, with text to copy. */
interface Step {
  readonly words: string;
  readonly copy?: string;
  /** Completes the name of the copy button. */
  readonly what?: string;
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
  { names, issuer, until, trouble }: NonNullable<MailAccess['certificate']>,
  now: number,
): { readonly text: string; readonly tone: 'ok' | 'warn' | 'bad' } {
  if (trouble !== '') return { text: `Its certificate cannot be used. ${trouble}`, tone: 'bad' };
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
    { words: 'SMTP server:', copy: host, what: 'the server' },
    { words: 'Port:', copy: String(port), what: 'the port' },
    {
      words: `Secure connection: ${connection}. Authentication: ${access.signIn === 'required' ? 'on, with a login' : 'off'}.`,
    },
    { words: 'Recipient:', copy: to, what: 'the recipient' },
    { words: 'Send the test mail that the form offers. It stands among the mails here a moment later.' },
  ];
}

/** Returns the guides for devices and programs. `host` is the host that this page was opened with. */
export function buildGuides(server: ServerDetails): readonly Guide[] {
  const { host, port, to, access } = server;
  const form = buildFormSteps(server);
  const url = quoteShellWord(`${access.tls === 'implicit' ? 'smtps' : 'smtp'}://${hostAndPort(host, port)}`);
  return [
    {
      id: 'nas',
      isDevice: true as const,
      title: 'A NAS (Synology, QNAP, TrueNAS, Unraid)',
      steps: [
        {
          words:
            'Open its notifications: Control Panel › Notification › Email (Synology), Notification Center › Service Account (QNAP), System › General › Email (TrueNAS), Settings › Notification (Unraid), and choose a custom SMTP server.',
        },
        ...form,
      ],
    },
    {
      id: 'proxmox',
      title: 'Proxmox VE',
      steps: [
        { words: 'Datacenter › Notifications › Add › SMTP.' },
        { words: 'Server:', copy: host, what: 'the server' },
        {
          words: `Encryption: ${{ off: 'Insecure', starttls: 'Insecure', required: 'STARTTLS', implicit: 'TLS' }[access.tls]}. Port:`,
          copy: String(port),
          what: 'the port',
        },
        { words: 'From Address: any, such as proxmox@home. Additional Recipient(s):', copy: to, what: 'the recipient' },
        { words: 'Choose it as a target of the notification matcher, and press Test.' },
      ],
    },
    {
      id: 'msmtp',
      title: 'Linux with msmtp',
      steps: [
        { words: 'Put this into /etc/msmtprc:', copy: buildMsmtpConfig(server), what: 'the configuration of msmtp' },
        {
          words: 'Send the first mail:',
          copy: `printf 'From: nas@home\\nSubject: Hello\\n\\nFirst light\\n' | msmtp ${to}`,
          what: 'the command',
        },
      ],
    },
    {
      id: 'cron',
      title: 'cron',
      steps: [
        {
          words: 'Set up msmtp as above, and let it stand in for sendmail:',
          copy: 'sudo apt install msmtp-mta',
          what: 'the command',
        },
        { words: 'Write this above the jobs of the crontab (crontab -e):', copy: `MAILTO=${to}`, what: 'the line' },
        { words: 'Whatever a job prints comes as a notification; a job that prints nothing stays quiet.' },
      ],
    },
    {
      id: 'camera',
      isDevice: true as const,
      title: 'A camera, printer or UPS',
      steps: [{ words: 'Look for “Email” or “SMTP” among its alarms or notifications.' }, ...form],
    },
    {
      id: 'curl',
      title: 'A script with curl',
      steps: [
        {
          words: 'curl can send mail. Run this in a shell:',
          copy: `printf 'From: nas@home\\nSubject: Hello\\n\\nFirst light\\n' | curl -sS ${url} --mail-from nas@home --mail-rcpt ${to} -T -`,
          what: 'the command',
        },
      ],
    },
    ...buildCommands(host, port, to).map(([name, command]) => ({
      id: `try ${name}`,
      title: `Try it with ${name}`,
      steps: [{ words: 'In a shell:', copy: command, what: 'the command' }],
    })),
  ];
}
