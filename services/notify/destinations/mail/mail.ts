import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { formatReply, formatSendFailure } from '../../../contracts/notify/send-failure.ts';
import type { Socket } from 'node:net';
import { Problem } from '../../../contracts/problem.ts';
import { createHash } from 'node:crypto';
import type { SendMailOptions } from 'nodemailer';
import type { Message } from '../../domain/message.ts';
import { convertText } from '../../domain/text/convert.ts';
import { DeliveryError, type Exchange } from '../exchange.ts';
import { choiceField, requiredField, passwordField, textField, userField } from '../fields.ts';
import { appTitle } from '../colors.ts';
import { toFailureCode, toHandshakeResult } from '../result.ts';
import { defineScheme } from '../scheme.ts';
import type { DestinationUrl } from '../url.ts';

type Mode = 'insecure' | 'starttls' | 'ssl';
const defaultPorts: Readonly<Record<Mode, number>> = { insecure: 25, starttls: 587, ssl: 465 };

/** Mail servers of common providers, from their documentation; the user is the complete address there. */
const providers: readonly (readonly [domains: RegExp, host: string, mode: Mode])[] = [
  [/^(gmail|googlemail)\.com$/, 'smtp.gmail.com', 'starttls'],
  [/^(outlook|hotmail|live|msn)\.[a-z.]+$/, 'smtp-mail.outlook.com', 'starttls'],
  [/^(icloud|me|mac)\.com$/, 'smtp.mail.me.com', 'starttls'],
  [/^(yahoo|ymail)\.[a-z.]+$/, 'smtp.mail.yahoo.com', 'ssl'],
  [/^fastmail\.(com|fm)$/, 'smtp.fastmail.com', 'ssl'],
  [/^gmx\.[a-z]+$/, 'mail.gmx.net', 'starttls'],
  [/^web\.de$/, 'smtp.web.de', 'starttls'],
  [/^mailbox\.org$/, 'smtp.mailbox.org', 'starttls'],
  [/^zoho\.[a-z.]+$/, 'smtp.zoho.com', 'ssl'],
];
const addressPattern = /^[^\s@<>,;"]+@[^\s@<>,;"]+$/;

interface SmtpRoute {
  readonly host: string;
  readonly port: number;
  readonly mode: Mode;
  readonly user: string | undefined;
}

function resolveRoute(url: DestinationUrl): SmtpRoute | string {
  const provider = url.query.has('smtp')
    ? undefined
    : providers.find(([domains]) => domains.test(url.host.toLowerCase()));
  const requestedMode = url.query.get('mode')?.toLowerCase();
  const defaultMode = provider?.[2] ?? (url.scheme === 'mailtos' ? 'starttls' : 'insecure');
  const mode =
    requestedMode === undefined || requestedMode === ''
      ? defaultMode
      : (['insecure', 'starttls', 'ssl'] as const).find((each) => each === requestedMode);
  if (mode === undefined) return problems.argumentInvalid({ name: 'mode', values: 'starttls, ssl, insecure' });
  const host = provider?.[1] ?? url.query.get('smtp') ?? url.host;
  const { user } = url;
  const userName = provider === undefined || user === undefined || user.includes('@') ? user : `${user}@${url.host}`;
  return { host, port: url.port ?? defaultPorts[mode], mode, user: userName };
}

function splitAddresses(text: string | undefined): readonly string[] {
  return (text ?? '').split(/[\s,;]+/).filter((each) => each !== '');
}

/** Parses the sender: an address, `Name<address>`, or a name for the account's own address. */
function parseSender(url: DestinationUrl): { readonly name: string; readonly address: string } | string {
  const ownAddress =
    url.user?.includes('@') === true ? url.user : `${url.user ?? 'homeport'}@${url.host.replace(/^\[|\]$/g, '')}`;
  const from = url.query.get('from')?.trim() ?? '';
  const [, name = '', inner] = /^(.*?)\s*<([^<>]*)>$/.exec(from) ?? [];
  if (inner !== undefined) return addressPattern.test(inner) ? { name, address: inner } : problems.senderInvalid();
  if (from.includes('@')) return addressPattern.test(from) ? { name: '', address: from } : problems.senderInvalid();
  return { name: from === '' ? (url.query.get('name') ?? appTitle) : from, address: ownAddress };
}

/** `mailto://user:password@domain?smtp=&from=&to=&cc=&bcc=&mode=starttls|ssl|insecure`, `mailtos` for STARTTLS. */
export const mailKind = defineScheme({
  service: 'E-Mail',
  label: 'mailto',
  protocols: ['mailto'],
  secureProtocols: ['mailtos'],
  templates: [
    '{schema}://{host}/{targets}',
    '{schema}://{user}:{password}@{host}',
    '{schema}://{user}:{password}@{host}:{port}/{targets}',
  ],
  args: ['smtp', 'mode', 'from', 'name', 'reply', 'cc', 'bcc'],
  files: true,
  filesOnly: true,
  format: 'html',
  // The message builder creates both parts from the original format.
  dialect: { html: 'asWritten', markdown: 'asWritten' },
  overflow: 'upstream',
  perTarget: true,
  form: {
    about: m.mailAbout,
    fields: [
      requiredField({
        ...textField('host', m.domainOrServer, 'host', m.mailDomainHelp),
      }),
      textField('port', m.port, 'port', m.defaultPortHelp),
      {
        ...choiceField('mode', m.connection, 'query:mode', [
          ['', m.connectionDefault],
          ['starttls', 'STARTTLS (587)'],
          ['ssl', 'TLS (465)'],
          ['insecure', m.unencrypted],
        ]),
      },
      { ...userField, help: m.optionalLoginHelp },
      { ...passwordField, help: m.appPasswordHelp },
      textField('from', m.sender, 'query:from', m.senderHelp),
      textField('to', m.recipients, 'targets', m.ownRecipientsHelp),
      textField('cc', m.copyTo, 'query:cc'),
      textField('smtp', m.mailServer, 'query:smtp', m.mailServerHelp),
    ],
  },
  normalize(typed) {
    // Without a domain in the URL, the domain of the user is used.
    const userDomain = typed.host === '' || typed.host === '_' ? typed.user?.replace(/^[^@]*@?/, '') : undefined;
    const url = userDomain === undefined || userDomain === '' ? typed : { ...typed, host: userDomain };
    const route = resolveRoute(url);
    return typeof route === 'string' || url.port !== defaultPorts[route.mode] ? url : { ...url, port: undefined };
  },
  open({ url, targets, options, argument }) {
    const route = resolveRoute(url);
    if (typeof route === 'string') return route;
    const from = parseSender(url);
    if (typeof from === 'string') return from;
    const to = targets[0] ?? from.address;
    const otherAddresses = [
      ...splitAddresses(argument('cc')),
      ...splitAddresses(argument('bcc')),
      ...splitAddresses(argument('reply')),
    ];
    if (![to, from.address, ...otherAddresses].every((each) => addressPattern.test(each)))
      return problems.mailAddressInvalid();
    return async (message, exchange) => {
      const files = await Promise.all(
        (message.attachments ?? []).map(async ({ name, type, read }) => {
          return { filename: name, contentType: type, content: Buffer.from(await read()) };
        }),
      );
      await submit(route, url.password, exchange, {
        from,
        to,
        cc: [...splitAddresses(argument('cc'))],
        bcc: [...splitAddresses(argument('bcc'))],
        ...(argument('reply') === undefined ? {} : { replyTo: [...splitAddresses(argument('reply'))] }),
        subject: message.title,
        ...buildBodies(message, options.format !== 'text'),
        attachments: files,
        date: new Date(message.time),
        // Equal for repetitions, so that a mailbox can recognize them.
        messageId: `<${createHash('sha256').update(`${message.id} ${to}`).digest('hex').slice(0, 32)}@${from.address.replace(/^.*@/, '')}>`,
        headers: {
          'X-Application': appTitle,
          'Auto-Submitted': 'auto-generated',
          // A gateway that converts the mail to a notification forwards the count, which ends loops.
          'X-Notify-Hop': String((message.hops ?? 0) + 1),
        },
      });
    };
  },
});

function buildBodies({ body, format }: Message, includesHtml: boolean) {
  const text = convertText(body, format, 'text');
  return includesHtml ? { text, html: convertText(body, format, 'html') } : { text };
}

type SocketDone = (error: Error | null, socket?: { readonly connection: Socket } | false) => void;

function isOwnListener(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'fetch.own_listener';
}

/** Opens a connection that does not lead back to Homeport. Other failures are reported by the library. */
function openSocket(
  endpoint: { readonly host: string; readonly port: number },
  { outlets, options, signal }: Exchange,
  done: SocketDone,
): void {
  if (outlets.connect === undefined) return done(null, false);
  outlets.connect({ ...endpoint, trust: 'owner', timeoutMs: options.timeoutMs, signal }).then(
    ({ socket }) => done(null, { connection: socket }),
    (error: unknown) => (isOwnListener(error) ? done(error) : done(null, false)),
  );
}

async function submit(
  { host, port, mode, user }: SmtpRoute,
  password: string | undefined,
  exchange: Exchange,
  mail: SendMailOptions,
) {
  const { signal, options } = exchange;
  // Loaded with the first mail, because most hosts send none.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    host: host.replace(/^\[|\]$/g, ''),
    port,
    secure: mode === 'ssl',
    requireTLS: mode === 'starttls',
    ignoreTLS: mode === 'insecure',
    tls: { rejectUnauthorized: options.verify },
    ...(user === undefined || password === undefined ? {} : { auth: { user, pass: password } }),
    connectionTimeout: options.timeoutMs,
    greetingTimeout: options.timeoutMs,
    socketTimeout: options.timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: (_options, done) => openSocket({ host: host.replace(/^\[|\]$/g, ''), port }, exchange, done),
  });
  const stop = (): void => transport.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await transport.sendMail(mail);
  } catch (error) {
    throw isOwnListener(error) ? error : toDeliveryError(error, host, exchange);
  } finally {
    signal.removeEventListener('abort', stop);
    transport.close();
  }
}

/** Failure as the library reports it; `originalCode` is the code of the socket. */
interface MailFailure {
  readonly code?: string;
  readonly originalCode?: string;
  readonly responseCode?: number;
  readonly response?: string;
}

/**
 * Converts an error. Replies of 5xx and a refused sign-in are final (RFC 5321, 4.2.1); all others may be temporary.
 */
function toDeliveryError(error: unknown, host: string, exchange: Exchange): unknown {
  if (!(error instanceof Error)) return error;
  const { code, originalCode, responseCode, response } = error as Error & MailFailure;
  const handshakeFailure = toHandshakeResult(originalCode ?? code, host, formatSendFailure('E-Mail'));
  if (handshakeFailure !== undefined) return new DeliveryError(handshakeFailure);
  const isFinal = responseCode !== undefined && responseCode >= 500;
  const responseText = response === undefined ? error.message : response;
  const summary = code === 'EAUTH' ? 'the user or password is not accepted' : `${host} did not take the mail`;
  return new DeliveryError({
    ok: false,
    retryable: !isFinal,
    code: code === 'EAUTH' ? 'sign_in' : (toFailureCode(originalCode ?? code) ?? 'mail_refused'),
    detail: `${formatSendFailure('E-Mail')}: ${summary}.${formatReply(exchange.redact(responseText))}`,
  });
}
