import { findOwn } from '../../contracts/find-own.ts';

const types: Readonly<Record<string, string>> = {
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  webm: 'video/webm',
  mkv: 'video/x-matroska',
  avi: 'video/x-msvideo',
  m4a: 'audio/mp4',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  wav: 'audio/wav',
  jpg: 'image/jpeg',
  srt: 'text/plain; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

/** Returns the media type of a file by the extension of its name. */
export function getMediaType(filename: string): string {
  return findOwn(types, filename.split('.').at(-1)?.toLowerCase() ?? '') ?? 'application/octet-stream';
}
