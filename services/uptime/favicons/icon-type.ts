import { findImageType } from '../../kit/file-type.ts';

/** Signature of ICO files. */
const icoSignature = Buffer.from([0x00, 0x00, 0x01, 0x00]);

/** Returns the type of an icon by its content; undefined for other files, also for SVG, which can contain scripts. */
export async function findIconType(content: Buffer): Promise<string | undefined> {
  if (content.subarray(0, icoSignature.length).equals(icoSignature)) return 'image/x-icon';
  return content.length === 0 ? undefined : await findImageType(content);
}
