import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { getLocalNetworkHint, protectedFolderHint } from '../../contracts/macos-privacy.ts';
/** Failure as it is stored. */
export interface StoredFailure {
  /** Text of rclone, Go or Node, or a sentence of the service. */
  readonly error: string;
  /** Code of a failure of the service; empty for a failure of the engine. */
  readonly code: string;
}

/** Explanation of a failure for users, with the original text in `detail` if that contains more. */
export interface Cause {
  readonly error: string;
  readonly detail: string;
}

type Explanation = string | ((match: RegExpExecArray, source: string) => string);

/** Position of the path in file errors of Go (`open /a/b: …`) and Node (`…, open '/a/b'`). */
const goCalls = 'open|openat|stat|lstat|mkdir|mkdirat|remove|unlinkat|rename|read|write|chtimes|readdirent|fdopendir';
const goPath = String.raw`(?:\b(?:${goCalls}) (?<path>[^:\n]+): )?`;
const nodePath = String.raw`(?:, \w+ '(?<named>[^'\n]+)'(?: -> '.*')?)?`;

/** Matches the end of a system error: file names in front of it may contain any text. */
function systemError(explanation: string, code: string): RegExp {
  return new RegExp(`${goPath}(?:${explanation}|${code}: [^,\n]+${nodePath})\\.?$`, 'i');
}

/** Failures of rclone that change how a call continues. */
export type RcloneFailure = 'folder_missing' | 'missing' | 'sign_in_port_in_use' | 'sign_in_rejected' | 'unreachable';

/** Patterns that classify the errors of rclone, which reports them only as text. No other code matches them. */
const failurePatterns: readonly (readonly [RcloneFailure, RegExp])[] = [
  ['sign_in_port_in_use', /failed to start auth webserver/],
  [
    'unreachable',
    /no such host|connection refused|network is unreachable|no route to host|i\/o timeout|deadline exceeded|x509:/i,
  ],
  [
    'sign_in_rejected',
    /unable to authenticate|logon is invalid|logon failure|InvalidAccessKeyId|SignatureDoesNotMatch|unauthorized/i,
  ],
  ['folder_missing', /\bdirectory not found\.?$/i],
  ['missing', /not found|no such file/],
];

/** Returns the failure that a message of rclone reports; undefined for any other. */
export function findRcloneFailure(message: string): RcloneFailure | undefined {
  const text = message.trim();
  return failurePatterns.find(([, pattern]) => pattern.test(text))?.[0];
}

/** Known causes; the first match applies. System errors come first because their text is the most specific. */
const causes: readonly (readonly [RegExp, Explanation])[] = [
  [
    /\b(?:error in ListJSON: )?directory not found\.?$/i,
    (_match, source) =>
      `${source === '' ? 'The folder' : source} is not there any more. If it is on a disk, is that connected?`,
  ],
  [/^(?:.*: )?object not found\.?$/i, 'The file is not there any more.'],
  [
    /didn't find section in config file(?: \("?(?<name>[^")]+)"?\))?/i,
    ({ groups }) =>
      `The remote ${groups?.['name'] === undefined ? '' : `${groups['name']} `}is not set up any more. Add it again under Remotes.`,
  ],
  [
    systemError('permission denied|operation not permitted|access is denied', '(?:EACCES|EPERM)'),
    (match) =>
      `This computer does not let Homeport at ${getPath(match, 'it')}. Change its permissions, or choose another folder.`,
  ],
  [
    /(?:no space left on device|not enough space|disk full|insufficient storage|less than (?:the )?remaining disk space|remaining disk space).*$|\bENOSPC\b/i,
    'There is no room left at the destination. Free some, then run it again.',
  ],
  [/quota.{0,20}exceeded|storageQuotaExceeded|\bEDQUOT\b/i, 'The quota of the destination is used up.'],
  [
    systemError('read-only file system', 'EROFS'),
    (match) => `${getPath(match, 'The destination')} can only be read: its disk is write-protected.`,
  ],
  [
    systemError('input/output error', 'EIO'),
    (match) => `The disk did not give or take ${getPath(match, 'the data')}. It may be failing.`,
  ],
  [systemError('file name too long', 'ENAMETOOLONG'), 'The name is too long for the destination.'],
  [
    systemError('not a directory', 'ENOTDIR'),
    (match) => `${getPath(match, 'Something there')} is a file or lies below one, and a folder is needed there.`,
  ],
  [
    systemError('is a directory', 'EISDIR'),
    (match) => `${getPath(match, 'Something there')} is a folder, and a file is needed there.`,
  ],
  [
    systemError('no such file or directory', 'ENOENT'),
    (match) => `${getPath(match, 'The file')} is not there any more.`,
  ],
  [
    /source file is being updated|corrupted on transfer|sizes differ/i,
    'It was changed while it was copied. The next run takes it as it is then.',
  ],
  [
    /lookup (?<host>[^\s:]+).*no such host|\bENOTFOUND\b(?: (?<other>[^\s]+))?/i,
    ({ groups }) =>
      `No server has the name ${groups?.['host'] ?? groups?.['other'] ?? 'that the remote gives'}. ` +
      'Is the name right, and is this computer online?',
  ],
  [
    /connection refused|\bECONNREFUSED\b/i,
    'The server refuses the connection: nothing answers at its address. Is it on?',
  ],
  [
    /network is unreachable|no route to host|\bE(?:NET|HOST)UNREACH\b/i,
    'No way leads to the server. Is this computer online?',
  ],
  [/i\/o timeout|timed? ?out|deadline exceeded|\bETIMEDOUT\b/i, 'The server did not answer in time.'],
  [/connection reset|broken pipe|unexpected EOF|\bECONNRESET\b|\bEPIPE\b/i, 'The connection to the server broke off.'],
  [/x509:|certificate (?:signed|has expired|is not)/i, "The server's certificate is not trusted."],
  [
    /invalid_grant|oauth2:|couldn't fetch token|token (?:has )?expired|empty token/i,
    'The sign-in to the provider has ended. Remove the remote and add it again under Remotes.',
  ],
  [
    /unable to authenticate|logon is invalid|logon failure|InvalidAccessKeyId|SignatureDoesNotMatch|unauthorized/i,
    'The server does not accept the sign-in. Check the name and the password of the remote, under Remotes.',
  ],
  [
    /too many requests|rate ?limit|\b429\b|SlowDown/i,
    'The server asks for a pause: too many requests came in a short time.',
  ],
  [/AccessDenied|\b403\b|forbidden/i, 'The server does not allow it to the account of the remote.'],
  [/context canceled/i, 'It was stopped.'],
  [
    /^failed to (?<what>copy|delete|move) (?<count>\d+) files?/i,
    ({ groups }) =>
      `${groups?.['count'] ?? 'Some'} files could not be ${pastParticiples[groups?.['what'] ?? ''] ?? 'moved'}.`,
  ],
];

const pastParticiples: Readonly<Record<string, string>> = { copy: 'copied', delete: 'deleted', move: 'moved' };

/** Codes of failures of the service itself. */
export const failureCodes = {
  link: 'sync.link',
  changedSince: 'sync.changed_since',
  sourceEmptied: 'sync.source_emptied',
  held: 'sync.held',
  stopped: 'sync.stopped',
  internal: 'sync.internal',
  unstated: 'sync.unstated',
} as const;

/** Failures whose sentence is shown unchanged: it may contain file names with any text. */
const explainedCodes: readonly string[] = [
  failureCodes.link,
  failureCodes.changedSince,
  failureCodes.sourceEmptied,
  failureCodes.held,
];
const codeExplanations: Readonly<Record<string, string>> = {
  [failureCodes.stopped]: 'It was stopped.',
  [failureCodes.internal]: 'Something within Homeport broke. The log has more of it.',
  [failureCodes.unstated]: 'It failed, and nothing was said of why.',
};

/** Number of characters at the end of a message that are searched: the cause is at the end. */
const maxMessageLength = 1000;

/** Explains a failure reported by rclone, Go or Node. Unknown messages are returned unchanged. */
export function explainFailure(failure: StoredFailure, source = ''): Cause {
  const text = failure.error.trim().slice(-maxMessageLength);
  const error = findExplanation(failure, source) ?? text;
  return { error, detail: error === text ? '' : text };
}

/** Returns the explanation of a known failure. Other messages may contain an address with its password. */
export function findExplanation(
  { error, code }: StoredFailure,
  source = '',
  platform: NodeJS.Platform = currentPlatform,
): string | undefined {
  const text = error.trim().slice(-maxMessageLength);
  if (explainedCodes.includes(code)) return text;
  const ownExplanation = codeExplanations[code];
  if (ownExplanation !== undefined) return ownExplanation;
  for (const [pattern, explanation] of causes) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const sentence = typeof explanation === 'string' ? explanation : explanation(match, source);
    return `${sentence} ${getMacosHint(text, platform)}`.trim();
  }
  return undefined;
}

/** Names the setting of macOS that is the usual cause of an error. */
function getMacosHint(text: string, platform: NodeJS.Platform): string {
  if (platform === 'darwin' && /operation not permitted|\bEPERM\b/i.test(text)) return protectedFolderHint;
  return /no route to host|\bEHOSTUNREACH\b/i.test(text) ? getLocalNetworkHint(text, platform) : '';
}

function getPath({ groups }: RegExpExecArray, fallback: string): string {
  return groups?.['path'] ?? groups?.['named'] ?? fallback;
}
