import type { MailAccess } from '../../../../services/contracts/mail/api.ts';
import { formatFullTime } from '../../parts/text/format.ts';
import { commandsOf, hostAndPort, shellWord } from './labels.ts';

/** One thing to do, with what is to be typed there. */
interface Step {
  readonly words: string;
  readonly copy?: string;
  /** Completes the name of the button that copies it. */
  readonly what?: string;
}

/** How one device or program is set up. */
export interface Guide {
  readonly id: string;
  readonly title: string;
  /** It is another machine than this one, for which an address of this computer alone is none. */
  readonly isDevice?: true;
  readonly steps: readonly Step[];
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly to: string;
  readonly access: Pick<MailAccess, 'tls' | 'signIn'>;
}

export function tlsWords(tls: MailAccess['tls']): string {
  return {
    off: 'None. Choose “no encryption” at the sender.',
    starttls: 'STARTTLS if the sender wishes',
    required: 'STARTTLS, and no mail without it',
    implicit: 'SSL/TLS from the first byte',
  }[tls];
}

export function signInWords({ signIn, logins }: Pick<MailAccess, 'signIn' | 'logins'>): string {
  if (signIn === 'off') return 'None. Leave user and password empty.';
  const who =
    logins === 0
      ? 'an account of this app'
      : `one of ${String(logins)} ${logins === 1 ? 'login' : 'logins'} in the settings, or an account of this app`;
  return signIn === 'required' ? `Needed: ${who}` : `Possible: ${who}`;
}

/** How the certificate stands, and when that is cause for concern. */
export function certificateWords(
  { names, issuer, until, trouble }: NonNullable<MailAccess['certificate']>,
  now: number,
): { readonly text: string; readonly tone: 'ok' | 'warn' | 'bad' } {
  if (trouble !== '') return { text: `Its certificate cannot be used. ${trouble}`, tone: 'bad' };
  const whom = names.length === 0 ? 'no name' : names.join(', ');
  const signer = issuer === '' ? '' : `, signed by ${issuer}`;
  if (until === null) return { text: `Its certificate is for ${whom}${signer}.`, tone: 'ok' };
  const days = Math.floor((until - now) / 86_400_000);
  if (days < 0) return { text: `Its certificate for ${whom} ran out on ${formatFullTime(until)}.`, tone: 'bad' };
  const left =
    days === 0 ? 'runs out today' : days === 1 ? 'is valid for one more day' : `is valid for ${String(days)} more days`;
  return { text: `Its certificate for ${whom}${signer} ${left}.`, tone: days < 14 ? 'warn' : 'ok' };
}

function msmtprc({ host, port, access }: Place): string {
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

/** The form of a device, in the words such forms have. */
function formSteps({ host, port, to, access }: Place): readonly Step[] {
  const secure = { off: 'None', starttls: 'None or STARTTLS', required: 'STARTTLS', implicit: 'SSL/TLS' }[access.tls];
  return [
    { words: 'SMTP server:', copy: host, what: 'the server' },
    { words: 'Port:', copy: String(port), what: 'the port' },
    {
      words: `Secure connection: ${secure}. Authentication: ${access.signIn === 'required' ? 'on, with a login' : 'off'}.`,
    },
    { words: 'Recipient:', copy: to, what: 'the recipient' },
    { words: 'Send the test mail that the form offers. It stands among the mails here a moment later.' },
  ];
}

/** What to do at the devices and programs of a household. `host` is what this page was opened with. */
export function guidesFor(place: Place): readonly Guide[] {
  const { host, port, to, access } = place;
  const form = formSteps(place);
  const url = shellWord(`${access.tls === 'implicit' ? 'smtps' : 'smtp'}://${hostAndPort(host, port)}`);
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
        { words: 'Put this into /etc/msmtprc:', copy: msmtprc(place), what: 'the configuration of msmtp' },
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
    ...commandsOf(host, port, to).map(([name, command]) => ({
      id: `try ${name}`,
      title: `Try it with ${name}`,
      steps: [{ words: 'In a shell:', copy: command, what: 'the command' }],
    })),
  ];
}
