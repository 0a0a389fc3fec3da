import * as m from '#messages/sync-causes';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { getLocalNetworkHint, getProtectedFolderHint } from '../../contracts/macos-privacy.ts';
import { explainServiceFailure } from './failures.ts';

/** Failure as it is stored. */
export interface StoredFailure {
  /** Text of rclone, Go or Node, or the English sentence of a failure of the service. */
  readonly error: string;
  /** Code of a failure of the service; empty for a failure of the engine. */
  readonly code: string;
  /** Values that the text of a failure of the service contains. */
  readonly parameters?: unknown;
}

/** Explanation of a failure for users, with the original text in `detail` if that contains more. */
export interface Cause {
  readonly error: string;
  readonly detail: string;
}

type Explanation = (match: RegExpExecArray, source: string) => string;

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
    (_match, source) => (source === '' ? m.anyFolderMissing() : m.folderMissing({ folder: source })),
  ],
  [/^(?:.*: )?object not found\.?$/i, () => m.fileMissing()],
  [
    /didn't find section in config file(?: \("?(?<name>[^")]+)"?\))?/i,
    ({ groups }) => (groups?.['name'] === undefined ? m.anyRemoteMissing() : m.remoteMissing({ name: groups['name'] })),
  ],
  [
    systemError('permission denied|operation not permitted|access is denied', '(?:EACCES|EPERM)'),
    explainPath(m.accessDenied, m.anyAccessDenied),
  ],
  [
    /(?:no space left on device|not enough space|disk full|insufficient storage|less than (?:the )?remaining disk space|remaining disk space).*$|\bENOSPC\b/i,
    () => m.diskFull(),
  ],
  [/quota.{0,20}exceeded|storageQuotaExceeded|\bEDQUOT\b/i, () => m.quotaUsed()],
  [systemError('read-only file system', 'EROFS'), explainPath(m.readOnly, m.anyReadOnly)],
  [systemError('input/output error', 'EIO'), explainPath(m.diskFailed, m.anyDiskFailed)],
  [systemError('file name too long', 'ENAMETOOLONG'), () => m.nameTooLong()],
  [systemError('not a directory', 'ENOTDIR'), explainPath(m.folderNeeded, m.anyFolderNeeded)],
  [systemError('is a directory', 'EISDIR'), explainPath(m.fileNeeded, m.anyFileNeeded)],
  [systemError('no such file or directory', 'ENOENT'), explainPath(m.pathMissing, m.fileMissing)],
  [/source file is being updated|corrupted on transfer|sizes differ/i, () => m.changedDuringCopy()],
  [
    /lookup (?<host>[^\s:]+).*no such host|\bENOTFOUND\b(?: (?<other>[^\s]+))?/i,
    ({ groups }) => {
      const host = groups?.['host'] ?? groups?.['other'];
      return host === undefined ? m.anyServerUnknown() : m.serverUnknown({ host });
    },
  ],
  [/connection refused|\bECONNREFUSED\b/i, () => m.connectionRefused()],
  [/network is unreachable|no route to host|\bE(?:NET|HOST)UNREACH\b/i, () => m.networkUnreachable()],
  [/i\/o timeout|timed? ?out|deadline exceeded|\bETIMEDOUT\b/i, () => m.timedOut()],
  [/connection reset|broken pipe|unexpected EOF|\bECONNRESET\b|\bEPIPE\b/i, () => m.connectionLost()],
  [/x509:|certificate (?:signed|has expired|is not)/i, () => m.certificateUntrusted()],
  [/invalid_grant|oauth2:|couldn't fetch token|token (?:has )?expired|empty token/i, () => m.signInExpired()],
  [
    /unable to authenticate|logon is invalid|logon failure|InvalidAccessKeyId|SignatureDoesNotMatch|unauthorized/i,
    () => m.signInRejected(),
  ],
  [/too many requests|rate ?limit|\b429\b|SlowDown/i, () => m.tooManyRequests()],
  [/AccessDenied|\b403\b|forbidden/i, () => m.forbidden()],
  [/context canceled/i, () => m.stopped()],
  [
    /^failed to (?<what>copy|delete|move) (?<count>\d+) files?/i,
    ({ groups }) => {
      const count = Number(groups?.['count']);
      if (groups?.['what'] === 'copy') return m.filesNotCopied({ count });
      return groups?.['what'] === 'delete' ? m.filesNotDeleted({ count }) : m.filesNotMoved({ count });
    },
  ],
];

/** Number of characters at the end of a message that are searched: the cause is at the end. */
const maxMessageLength = 1000;

/** Explains a failure of the service, or one that rclone, Go or Node reported. Unknown messages are returned unchanged. */
export function explainFailure(
  failure: StoredFailure,
  source = '',
  platform: NodeJS.Platform = currentPlatform,
): Cause {
  const serviceText = explainServiceFailure(failure.code, failure.parameters);
  // A failure of the service has no more detail than its text.
  if (serviceText !== undefined) return { error: serviceText, detail: '' };
  const text = failure.error.trim().slice(-maxMessageLength);
  const error = findExplanation(failure, source, platform) ?? text;
  return { error, detail: error === text ? '' : text };
}

/** Returns the explanation of a known failure. Other messages may contain an address with its password. */
export function findExplanation(
  { error, code, parameters }: StoredFailure,
  source = '',
  platform: NodeJS.Platform = currentPlatform,
): string | undefined {
  const serviceText = explainServiceFailure(code, parameters);
  if (serviceText !== undefined) return serviceText;
  const text = error.trim().slice(-maxMessageLength);
  for (const [pattern, explanation] of causes) {
    const match = pattern.exec(text);
    if (match === null) continue;
    return `${explanation(match, source)} ${getMacosHint(text, platform)}`.trim();
  }
  return undefined;
}

/** Names the setting of macOS that is the usual cause of an error. */
function getMacosHint(text: string, platform: NodeJS.Platform): string {
  if (platform === 'darwin' && /operation not permitted|\bEPERM\b/i.test(text)) return getProtectedFolderHint();
  return /no route to host|\bEHOSTUNREACH\b/i.test(text) ? getLocalNetworkHint(text, platform) : '';
}

/** Returns an explanation that names the path of a failure when it is known. */
function explainPath(named: (values: { readonly path: string }) => string, unnamed: () => string): Explanation {
  return ({ groups }) => {
    const path = groups?.['path'] ?? groups?.['named'];
    return path === undefined ? unnamed() : named({ path });
  };
}
