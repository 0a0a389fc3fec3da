import * as m from '#messages/mail';
import { formatList } from '../../../../messages/format.ts';
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
    off: m.tlsOff,
    starttls: m.tlsOptional,
    required: m.tlsRequired,
    implicit: m.tlsImplicit,
  }[tls]();
}

export function formatSignIn({ signIn, logins }: Pick<MailAccess, 'signIn' | 'logins'>): string {
  if (signIn === 'off') return m.signInOff();
  return signIn === 'required' ? m.signInRequired({ logins }) : m.signInOptional({ logins });
}

/** Formats the state of the certificate, with a tone for problems. */
export function formatCertificate(
  { names, issuer, until, error }: NonNullable<MailAccess['certificate']>,
  now: number,
): { readonly text: string; readonly tone: 'ok' | 'warn' | 'bad' } {
  if (error !== '') return { text: m.certificateUnusable({ error }), tone: 'bad' };
  const hosts = names.length === 0 ? m.noName() : formatList(names, 'unit');
  if (until === null)
    return { text: issuer === '' ? m.certificateFor({ hosts }) : m.certificateSignedBy({ hosts, issuer }), tone: 'ok' };
  const days = Math.floor((until - now) / 86_400_000);
  if (days < 0) return { text: m.certificateExpired({ hosts, time: formatFullTime(until) }), tone: 'bad' };
  const text = issuer === '' ? m.certificateValid({ hosts, days }) : m.signedCertificateValid({ hosts, issuer, days });
  return { text, tone: days < 14 ? 'warn' : 'ok' };
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
  const connection = {
    off: m.noEncryption,
    starttls: m.noneOrStarttls,
    required: m.starttls,
    implicit: m.sslOrTls,
  }[access.tls]();
  return [
    { text: m.smtpServerStep(), copy: host, subject: m.theServer() },
    { text: m.portStep(), copy: String(port), subject: m.thePort() },
    { text: access.signIn === 'required' ? m.connectionWithLogin({ connection }) : m.connectionStep({ connection }) },
    { text: m.recipientStep(), copy: to, subject: m.theRecipient() },
    { text: m.sendTestStep() },
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
      title: m.nasGuide(),
      steps: [{ text: m.nasStep() }, ...form],
    },
    {
      id: 'proxmox',
      title: m.proxmoxGuide(),
      steps: [
        { text: m.proxmoxOpenStep() },
        { text: m.serverStep(), copy: host, subject: m.theServer() },
        {
          text: m.proxmoxEncryptionStep({
            encryption: { off: 'Insecure', starttls: 'Insecure', required: 'STARTTLS', implicit: 'TLS' }[access.tls],
          }),
          copy: String(port),
          subject: m.thePort(),
        },
        { text: m.proxmoxAddressStep(), copy: to, subject: m.theRecipient() },
        { text: m.proxmoxTestStep() },
      ],
    },
    ...buildLinuxGuides(server),
    {
      id: 'camera',
      isDevice: true as const,
      title: m.cameraGuide(),
      steps: [{ text: m.cameraStep() }, ...form],
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
      title: m.msmtpGuide(),
      steps: [
        { text: m.msmtpConfigStep(), copy: buildMsmtpConfig(server), subject: m.theMsmtpConfiguration() },
        {
          text: m.msmtpSendStep(),
          copy: `printf 'From: nas@home\\nSubject: Hello\\n\\nFirst light\\n' | msmtp ${to}`,
          subject: m.theCommand(),
        },
      ],
    },
    {
      id: 'cron',
      title: m.cronGuide(),
      steps: [
        { text: m.cronInstallStep(), copy: 'sudo apt install msmtp-mta', subject: m.theCommand() },
        { text: m.cronLineStep(), copy: `MAILTO=${to}`, subject: m.theLine() },
        { text: m.cronHint() },
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
      title: m.curlGuide(),
      steps: [
        {
          text: m.curlStep(),
          copy:
            `printf 'From: nas@home\\nSubject: Hello\\n\\nFirst light\\n' | ` +
            `curl -sS ${url} --mail-from nas@home --mail-rcpt ${to} -T -`,
          subject: m.theCommand(),
        },
      ],
    },
    ...buildCommands(host, port, to).map(([name, command]) => ({
      id: `try ${name}`,
      title: m.programGuide({ program: name }),
      steps: [{ text: m.shellStep(), copy: command, subject: m.theCommand() }],
    })),
  ];
}
