import { findTypeByContent, findTypeByName, isText } from '../../kit/file-type.ts';

/** Maximum length of a file name in characters, as in Apprise API. */
export const maxNameLength = 250;

/**
 * Returns a name without path and control characters; unnamed files are called `attachment.001` by their index (from
 * 0).
 */
export function toFileName(originalName: string, index: number): string {
  const lastSegment = originalName.split(/[/\\]/).at(-1) ?? '';
  const name = lastSegment.replace(/[\p{Cc}\u2028\u2029]+/gu, '').trim();
  return name === '' || name === '.' || name === '..' ? `attachment.${String(index + 1).padStart(3, '0')}` : name;
}

/**
 * Returns the media type of a file: the declared one if it is specific, otherwise that of its content. The extension
 * decides for text, because formats of text have no signature.
 */
export async function detectMediaType(declaredType: string, name: string, head: Uint8Array): Promise<string> {
  const type = declaredType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (/^[\w.+-]+\/[\w.+-]+$/.test(type) && type !== 'application/octet-stream') return type;
  const namedType = await findTypeByName(name);
  if (namedType !== undefined && isText(head)) return namedType;
  return (await findTypeByContent(head))?.mime ?? namedType ?? 'application/octet-stream';
}
