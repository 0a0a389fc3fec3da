import { isUtf8 } from 'node:buffer';

/** Number of leading bytes that the detection uses. */
export const detectionBytes = 4100;

/** Registered types that mime-db does not list as the preferred type of the extension (RFC 9512, 9639 and 6350). */
const registeredTypes: Readonly<Record<string, string>> = {
  'text/yaml': 'application/yaml',
  'audio/x-flac': 'audio/flac',
  'text/x-vcard': 'text/vcard',
};

/** Raster images that browsers show. SVG is not one of them, because it can contain scripts. */
const imageTypes = new Map([
  ['image/png', 'image/png'],
  ['image/apng', 'image/png'],
  ['image/jpeg', 'image/jpeg'],
  ['image/gif', 'image/gif'],
  ['image/webp', 'image/webp'],
  ['image/avif', 'image/avif'],
]);

/** Returns the media type of a file by the extension of its name; undefined when it is unknown. */
export async function findTypeByName(name: string): Promise<string | undefined> {
  const extension = /\.([a-z\d]+)$/i.exec(name)?.[1];
  if (extension === undefined) return undefined;
  // Loaded on first use, because the table is large.
  const { lookup } = await import('mime-types');
  const type = lookup(extension);
  return type === false ? undefined : (registeredTypes[type] ?? type);
}

/** Returns the file extension of a media type, without its dot; undefined when it is unknown. */
export async function findExtension(type: string): Promise<string | undefined> {
  const { extension } = await import('mime-types');
  const name = extension(type);
  return name === false ? undefined : name;
}

/** Detects the type of a file by the signature at its beginning; undefined for text and for unknown formats. */
export async function findTypeByContent(
  head: Uint8Array,
): Promise<{ readonly mime: string; readonly ext: string } | undefined> {
  // Loaded on first use, because most servers receive no files.
  const { fileTypeFromBuffer } = await import('file-type');
  return await fileTypeFromBuffer(head.subarray(0, detectionBytes));
}

/** Detects the type of a raster image by its content, regardless of what its sender declares. */
export async function findImageType(head: Uint8Array): Promise<string | undefined> {
  // Some signatures are words, such as `GIF`, which a text may begin with.
  if (isText(head.subarray(0, detectionBytes))) return undefined;
  const type = await findTypeByContent(head);
  return imageTypes.get(type?.mime ?? '');
}

/** Returns true for UTF-8 text. A long text may be cut in the middle of a character. */
export function isText(head: Uint8Array): boolean {
  if (hasControlCharacters(head)) return false;
  const minLength = head.length < detectionBytes ? head.length : head.length - 3;
  for (let end = head.length; end >= minLength; end -= 1) {
    if (isUtf8(head.subarray(0, end))) return true;
  }
  return false;
}

/** Returns true for control characters that distinguish binary files from text. */
export function hasControlCharacters(head: Uint8Array): boolean {
  return head.some((byte) => byte < 8 || (byte >= 14 && byte < 27) || (byte > 27 && byte < 32));
}
