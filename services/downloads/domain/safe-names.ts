/** Maximum size of a file name in bytes: on most file systems, and in encrypted home folders. */
export const nameLimits = [255, 143] as const;

/** Bytes that yt-dlp adds to the names of unfinished files: `.f137`, `.part-Frag12345`, `.part`. */
const maxUnfinishedBytes = 28;

/** Returns whether a text cannot be a file or folder name: it is empty or consists of dots and spaces. */
export function isBlankName(text: string): boolean {
  return /^[.\s]*$/.test(text);
}

/** Truncates a text to a number of bytes in UTF-8, between two characters. */
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
 * Returns a template whose path keeps each name within the limit of the file system, including what yt-dlp adds to
 * unfinished files.
 *
 * @param path Path as resolved by yt-dlp, relative to the download folder.
 * @param extension Extension without its dot.
 */
export function buildTrimmedTemplate(path: string, extension: string, limit: number): string {
  const parts = path.split('/');
  const last = parts.pop() ?? '';
  const hasExtension = extension !== '' && last.endsWith(`.${extension}`);
  const stem = hasExtension ? last.slice(0, -extension.length - 1) : last;
  const availableBytes = limit - maxUnfinishedBytes - Buffer.byteLength(extension) - 1;
  const names = [...parts.map((part) => trimName(part, limit)), trimName(stem, availableBytes)];
  return names.map(toLiteral).join('/') + (hasExtension ? '.%(ext)s' : '');
}

/** Bytes reserved for fields of a template that are not texts, such as numbers. */
const maxPlainBytes = 40;

/**
 * Returns a template whose text fields (`%(title)s`) share the maximum size of a name, for files that the extractor names
 * itself, such as chapters. Texts with an explicit limit keep it.
 */
export function limitFields(template: string, limit: number): string {
  const text = /%\(([^()]*)\)s/g;
  return template
    .split('/')
    .map((part) => {
      // The extension is short, and the extractor does not recognize it with a limit.
      const count = [...part.matchAll(text)].filter(([, name]) => name !== 'ext').length;
      const literal = Buffer.byteLength(part.replaceAll(/%\([^()]*\)[^a-zA-Z]*[a-zA-Z]/g, ''));
      const availableBytes = limit - maxUnfinishedBytes - maxPlainBytes - literal;
      const share = Math.max(8, Math.floor(availableBytes / Math.max(1, count)));
      return part.replaceAll(text, (field, name: string) => (name === 'ext' ? field : `%(${name}).${String(share)}B`));
    })
    .join('/');
}

function trimName(name: string, bytes: number): string {
  const cut = cutToBytes(name, bytes).replace(/[. ]+$/, '');
  return isBlankName(cut) ? '_' : cut;
}

/** Escapes text that yt-dlp would expand: variables and the home folder. */
function toLiteral(name: string): string {
  return name.replaceAll('%', '%%').replaceAll('$', '＄').replace(/^~/, '～');
}
