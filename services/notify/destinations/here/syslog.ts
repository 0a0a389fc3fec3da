import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { formatSendFailure } from '../../../contracts/notify/send-failure.ts';
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { hostname } from 'node:os';
import type { Message } from '../../domain/message.ts';
import type { NotificationType } from '../../../contracts/notify/notification.ts';
import { DeliveryError, type Exchange } from '../exchange.ts';
import { choiceField, hostField, portField } from '../fields.ts';
import { appTitle } from '../colors.ts';
import { findConnectionCode, withFailureCode } from '../result.ts';
import { defineScheme } from '../scheme.ts';

/** Facilities in the order of their numbers (RFC 5424, 6.2.1). */
const facilities = [
  ...['kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news', 'uucp', 'cron'],
  ...['authpriv', 'ftp', 'ntp', 'audit', 'alert', 'clock'],
  ...['local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7'],
];
const severities: Readonly<Record<NotificationType, readonly [number, string]>> = {
  info: [6, 'info'],
  success: [5, 'notice'],
  warning: [4, 'warning'],
  failure: [2, 'crit'],
};
/** Maximum size of a packet (RFC 5426, 3.2 requires receivers to accept 2048 bytes). */
const maxPacketBytes = 8192;

const facilityField = choiceField('facility', m.facility, 'segment:0', [
  ['', 'user'],
  ...facilities.filter((each) => each !== 'user').map((each) => [each, each] as const),
]);

function findFacility(word: string | undefined): string | undefined {
  const prefix = (word ?? 'user').toLowerCase();
  return facilities.find((each) => each.startsWith(prefix));
}

/** Formats one line; receivers treat a line break as the end of the message. */
function formatLine({ title, body }: Pick<Message, 'title' | 'body'>): string {
  return [title, body]
    .filter((part) => part !== '')
    .join(': ')
    .replace(/\s*[\r\n]+\s*/g, ' | ')
    .replace(/\p{Cc}/gu, ' ');
}

/** Builds a message of RFC 5424 in UTF-8. */
export function syslogMessage(message: Message, facility: string, host: string): Buffer {
  const priority = facilities.indexOf(facility) * 8 + severities[message.type][0];
  const hostName = host.replace(/[^\x21-\x7e]/g, '').slice(0, 255) || '-';
  const header = `<${priority}>1 ${new Date(message.time).toISOString()} ${hostName} ${appTitle.toLowerCase()} - - - \ufeff`;
  const packet = Buffer.from(`${header}${formatLine(message)}`, 'utf8');
  let end = Math.min(packet.length, maxPacketBytes);
  // Characters are not cut (RFC 5424, 6.4).
  while (end < packet.length && ((packet[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return packet.subarray(0, end);
}

function toDeliveryError(exchange: Exchange, service: string, error: Error, retryable: boolean): DeliveryError {
  return new DeliveryError({
    ok: false,
    retryable,
    ...withFailureCode(findConnectionCode(error)),
    detail: `${formatSendFailure(service)}: ${exchange.redact(error.message)}`,
  });
}

/** `syslog://[facility]`: the log of the computer that runs Homeport. */
export const syslogKind = defineScheme({
  service: 'Syslog',
  label: 'syslog',
  handlesLink: true,
  protocols: ['syslog'],
  secureProtocols: [],
  templates: ['{schema}://', '{schema}://{facility}'],
  args: ['facility'],
  bodyLimit: 4096,
  form: {
    about: m.syslogAbout,
    fields: [{ ...facilityField, location: 'query:facility' }],
  },
  normalize(url) {
    const named = url.host === '' || url.host === '_' ? url.path[0] : url.host;
    const query = new Map(url.query);
    if (named !== undefined && named !== '') query.set('facility', named);
    return { ...url, host: '', path: [], rawPath: '', query };
  },
  open({ argument }) {
    const facility = findFacility(argument('facility'));
    if (facility === undefined) return problems.facilityUnknown();
    return (message, exchange) => {
      const priority = `${facility}.${severities[message.type][1]}`;
      const loggerArguments = ['-p', priority, '-t', appTitle.toLowerCase(), '--', formatLine(message)];
      return new Promise<void>((resolve, reject) => {
        execFile(
          'logger',
          loggerArguments,
          { signal: exchange.signal, timeout: exchange.options.timeoutMs },
          (error) => {
            if (error === null) resolve();
            // If the program is missing, a retry cannot succeed.
            else reject(toDeliveryError(exchange, 'Syslog', error, error.code !== 'ENOENT'));
          },
        );
      });
    };
  },
});

/** `rsyslog://host[:514]/[facility]`: the log of another computer, over UDP (RFC 5424 and 5426). */
export const remoteSyslogKind = defineScheme({
  service: 'Remote Syslog',
  label: 'rsyslog',
  handlesLink: true,
  protocols: ['rsyslog'],
  secureProtocols: [],
  templates: ['{schema}://{host}', '{schema}://{host}:{port}', '{schema}://{host}:{port}/{facility}'],
  bodyLimit: 4096,
  form: {
    about: m.remoteSyslogAbout,
    fixedSegments: 1,
    fields: [hostField, portField, facilityField],
  },
  open({ url }) {
    const facility = findFacility(url.path[0] ?? url.query.get('facility'));
    if (facility === undefined) return problems.facilityUnknown();
    const host = url.host.replace(/^\[|\]$/g, '');
    return (message, exchange) =>
      new Promise<void>((resolve, reject) => {
        const socket = createSocket(url.host.startsWith('[') ? 'udp6' : 'udp4');
        const end = (error: Error | null): void => {
          socket.close();
          if (error === null) resolve();
          else reject(toDeliveryError(exchange, 'Remote Syslog', error, true));
        };
        socket.once('error', end);
        socket.send(syslogMessage(message, facility, hostname()), url.port ?? 514, host, end);
      });
  },
});
