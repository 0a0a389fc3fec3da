/** Bytes that most file systems take in a name; encrypted home folders take the smaller number. */
export const nameLimits = [255, 143] as const;

/** Bytes beside a name and its extension for what yt-dlp adds to unfinished files: `.f137`, `.part-Frag12345`, `.part`. */
const maxUnfinishedBytes = 28;

/** Whether a text is no name of a file or folder: empty, dots or blanks alone. */
export function isBlankName(text: string): boolean {
  return /^[.\s]*$/.test(text);
}

/** The longest beginning of at most `bytes` in UTF-8 that ends between two characters. */
export function cutToBytes(text: string, bytes: number): string {
  let size = 0;
  let cut = '';
  for (const character of text) {
    size += new TextEncoder().encode(character).length;
    if (size > bytes) break;
    cut += character;
  }
  return cut;
}

/**
 * Returns a template that gives a path in which each name keeps within the limit of the file system, with room for what is
 * added to unfinished files.
 * @param path as yt-dlp resolved it, relative to the download folder
 * @param extension without its dot
 */
export function buildTrimmedTemplate(path: string, extension: string, limit: number): string {
  const parts = path.split('/');
  const last = parts.pop() ?? '';
  const hasExtension = extension !== '' && last.endsWith(`.${extension}`);
  const stem = hasExtension ? last.slice(0, -extension.length - 1) : last;
  const room = limit - maxUnfinishedBytes - Buffer.byteLength(extension) - 1;
  const names = [...parts.map((part) => trimName(part, limit)), trimName(stem, room)];
  return names.map(toLiteral).join('/') + (hasExtension ? '.%(ext)s' : '');
}

/** Bytes of a name for what a template has beside its texts, such as numbers. */
const maxPlainBytes = 40;

/**
 * Returns a template whose texts (`%(title)s`) share the bytes that a name may have. For files whose names the extractor
 * makes by itself, such as those of chapters; texts that have a limit of their own keep it.
 */
export function limitFields(template: string, limit: number): string {
  const text = /%\(([^()]*)\)s/g;
  return template
    .split('/')
    .map((part) => {
      // The extension is short, and a limit would hide it from the extractor.
      const count = [...part.matchAll(text)].filter(([, name]) => name !== 'ext').length;
      const literal = Buffer.byteLength(part.replaceAll(/%\([^()]*\)[^a-zA-Z]*[a-zA-Z]/g, ''));
      const room = limit - maxUnfinishedBytes - maxPlainBytes - literal;
      const share = Math.max(8, Math.floor(room / Math.max(1, count)));
      return part.replaceAll(text, (field, name: string) => (name === 'ext' ? field : `%(${name}).${String(share)}B`));
    })
    .join('/');
}

function trimName(name: string, bytes: number): string {
  const cut = cutToBytes(name, bytes).replace(/[. ]+$/, '');
  return isBlankName(cut) ? '_' : cut;
}

/** yt-dlp would expand variables and the home folder. */
function toLiteral(name: string): string {
  return name.replaceAll('%', '%%').replaceAll('$', '＄').replace(/^~/, '～');
}
