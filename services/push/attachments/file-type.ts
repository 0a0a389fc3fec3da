import { isUtf8 } from 'node:buffer';
import { decodeText } from '../../kit/charset.ts';

/** What a file is: its media type, and the ending that its address gets (with its dot, or empty). */
export interface Kind {
  readonly type: string;
  readonly ending: string;
}

/** Bytes of a file that tell its kind. */
export const tellingBytes = 4100;

/** Texts that only their name tells from others. */
const namedTexts: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.tsv': 'text/tab-separated-values',
  '.ics': 'text/calendar',
  '.vcf': 'text/vcard',
};

const plain: Kind = { type: 'text/plain; charset=utf-8', ending: '.txt' };

/** The kind of a file by its first bytes; its name counts where they tell nothing. */
export async function kindOf(head: Buffer, name: string): Promise<Kind> {
  // Android installs packages by this type only; the bytes are those of any archive.
  if (/\.apk$/i.test(name)) return { type: 'application/vnd.android.package-archive', ending: '.apk' };
  if (isText(head)) return textKind(head.toString('utf8'), endingOf(name));
  if (isUtf16(head))
    return withCharset(textKind(decodeText(head), endingOf(name)), head[0] === 0xff ? 'utf-16le' : 'utf-16be');
  // Loaded at the first file: most servers never get one.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(head);
  if (found !== undefined) return { type: found.mime, ending: `.${found.ext}` };
  // Control characters are what tells a file of bytes from text in another charset.
  if (head.length > 0 && !hasControlCharacters(head)) {
    const charset = head.some((byte) => byte >= 0x80 && byte < 0xa0) ? 'windows-1252' : 'iso-8859-1';
    return withCharset(textKind(head.toString('latin1'), endingOf(name)), charset);
  }
  return { type: 'application/octet-stream', ending: endingOf(name) || '.bin' };
}

function hasControlCharacters(head: Buffer): boolean {
  return head.some((byte) => byte < 8 || (byte >= 14 && byte < 27) || (byte > 27 && byte < 32));
}

/** Text with a byte order mark, as PowerShell and Notepad write it; its other half is mostly zeros or letters. */
function isUtf16(head: Buffer): boolean {
  const isMarked = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  return isMarked && !/[\0\ufffd]/.test(decodeText(head.subarray(0, head.length - (head.length % 2))).slice(0, -1));
}

/** The kind of a text in another charset than UTF-8. */
function withCharset({ type, ending }: Kind, charset: string): Kind {
  return { type: type.replace(/; charset=utf-8$/, `; charset=${charset}`), ending };
}

/** Only the beginning of a long text may be at hand, cut in the middle of a character. */
function isText(head: Buffer): boolean {
  if (hasControlCharacters(head)) return false;
  const least = head.length < tellingBytes ? head.length : head.length - 3;
  for (let end = head.length; end >= least; end -= 1) {
    if (isUtf8(head.subarray(0, end))) return true;
  }
  return false;
}

/** Of a name, with its dot; empty when it has none. */
function endingOf(name: string): string {
  return /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0].toLowerCase() ?? '';
}

function textKind(text: string, named: string): Kind {
  const start = text.replace(/^\uFEFF/, '').trimStart();
  if (/^(<!doctype html|<(html|head|body|script|iframe|div|p|h1|table|a|br|style|title)[\s>/])/i.test(start)) {
    return { type: 'text/html; charset=utf-8', ending: '.html' };
  }
  if (/^(<\?xml[^]*?\?>\s*)?(<!--[^]*?-->\s*)*(<!doctype svg[^>]*>\s*)?<svg[\s>]/i.test(start.slice(0, 1000))) {
    return { type: 'image/svg+xml', ending: '.svg' };
  }
  if (start.startsWith('<?xml')) return { type: 'text/xml; charset=utf-8', ending: '.xml' };
  if (isJson(start)) return { type: 'application/json', ending: '.json' };
  if (start.startsWith('%PDF-')) return { type: 'application/pdf', ending: '.pdf' };
  if (start.startsWith('{\\rtf')) return { type: 'text/rtf', ending: '.rtf' };
  const type = namedTexts[named];
  return type === undefined ? plain : { type, ending: named };
}

function isJson(text: string): boolean {
  if (!/^[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Text that only begins like it.
    return false;
  }
}
