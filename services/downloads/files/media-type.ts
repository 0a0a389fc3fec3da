import { findTypeByName } from '../../kit/file-type.ts';

/** Types of files that a browser shows in the page of the app, which must never be pages themselves. */
const safeTypes = /^(?:audio\/|video\/|image\/(?:jpeg|png|webp)$|text\/(?:plain|vtt)$)/;

/** Returns the media type of a downloaded file by its name: media and captions, anything else as bytes. */
export async function getMediaType(filename: string): Promise<string> {
  if (/\.srt$/i.test(filename)) return 'text/plain; charset=utf-8';
  // Browsers play MPEG-4 only under its registered type.
  if (/\.m4v$/i.test(filename)) return 'video/mp4';
  const type = (await findTypeByName(filename)) ?? '';
  if (!safeTypes.test(type)) return 'application/octet-stream';
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}
