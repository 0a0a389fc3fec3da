import { findOwn } from '../../contracts/find-own.ts';
import { decodeText } from '../../kit/charset.ts';
import { findTypeByContent, hasControlCharacters, isText } from '../../kit/file-type.ts';

/** Media type of a file and the extension of its URL (with the dot, or empty). */
export interface FileType {
  readonly type: string;
  readonly extension: string;
}

/** Text types that are distinguished by file extension only. */
const textTypesByExtension: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.tsv': 'text/tab-separated-values',
  '.ics': 'text/calendar',
  '.vcf': 'text/vcard',
};

const plainText: FileType = { type: 'text/plain; charset=utf-8', extension: '.txt' };

/** Detects the type of a file from its first bytes; the name is used when they are not conclusive. */
export async function detectFileType(head: Buffer, name: string): Promise<FileType> {
  // Android installs packages only with this type; the bytes are those of a zip archive.
  if (/\.apk$/i.test(name)) return { type: 'application/vnd.android.package-archive', extension: '.apk' };
  if (isText(head)) return detectTextType(head.toString('utf8'), getExtension(name));
  if (isUtf16(head))
    return withCharset(
      detectTextType(decodeText(head), getExtension(name)),
      head[0] === 0xff ? 'utf-16le' : 'utf-16be',
    );
  const detected = await findTypeByContent(head);
  if (detected !== undefined) return { type: detected.mime, extension: `.${detected.ext}` };
  // Control characters distinguish binary files from text in another charset.
  if (head.length > 0 && !hasControlCharacters(head)) {
    const charset = head.some((byte) => byte >= 0x80 && byte < 0xa0) ? 'windows-1252' : 'iso-8859-1';
    return withCharset(detectTextType(head.toString('latin1'), getExtension(name)), charset);
  }
  return { type: 'application/octet-stream', extension: getExtension(name) || '.bin' };
}

/** Returns true for UTF-16 text with a byte order mark, as written by PowerShell and Notepad. */
function isUtf16(head: Buffer): boolean {
  const hasByteOrderMark = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  return (
    hasByteOrderMark && !/[\0\ufffd]/.test(decodeText(head.subarray(0, head.length - (head.length % 2))).slice(0, -1))
  );
}

/** Replaces the charset of a text type. */
function withCharset({ type, extension }: FileType, charset: string): FileType {
  return { type: type.replace(/; charset=utf-8$/, `; charset=${charset}`), extension };
}

/** Returns the extension of a file name with its dot, or an empty string. */
function getExtension(name: string): string {
  return /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0].toLowerCase() ?? '';
}

function detectTextType(text: string, extension: string): FileType {
  const start = text.replace(/^\uFEFF/, '').trimStart();
  if (/^(<!doctype html|<(html|head|body|script|iframe|div|p|h1|table|a|br|style|title)[\s>/])/i.test(start)) {
    return { type: 'text/html; charset=utf-8', extension: '.html' };
  }
  if (/^(<\?xml[^]*?\?>\s*)?(<!--[^]*?-->\s*)*(<!doctype svg[^>]*>\s*)?<svg[\s>]/i.test(start.slice(0, 1000))) {
    return { type: 'image/svg+xml', extension: '.svg' };
  }
  if (start.startsWith('<?xml')) return { type: 'text/xml; charset=utf-8', extension: '.xml' };
  if (isJson(start)) return { type: 'application/json', extension: '.json' };
  if (start.startsWith('%PDF-')) return { type: 'application/pdf', extension: '.pdf' };
  if (start.startsWith('{\\rtf')) return { type: 'text/rtf', extension: '.rtf' };
  const type = findOwn(textTypesByExtension, extension);
  return type === undefined ? plainText : { type, extension };
}

function isJson(text: string): boolean {
  if (!/^[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Not JSON, although it begins like it.
    return false;
  }
}
