import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { ffmpeg, type FfmpegCall } from './ffmpeg.ts';

/** Formats that hold a cover. */
const holds = new Set(['.mp3', '.m4a', '.flac', '.ogg', '.opus']);

/** Puts a JPEG picture into an audio file as its cover; the sound and the tags are copied as they are. */
export async function embedCover(call: FfmpegCall, file: string, picture: string, scratch: string): Promise<void> {
  const extension = extname(file);
  if (!holds.has(extension)) return;
  const draft = join(scratch, `cover${extension}`);
  const notes = join(scratch, 'cover.txt');
  try {
    if (extension === '.ogg' || extension === '.opus') {
      // Ogg has no pictures of its own: the cover is a comment.
      await writeFile(notes, `;FFMETADATA1\n[STREAM]\nMETADATA_BLOCK_PICTURE=${await pictureBlock(picture)}\n`);
      const tags = ['-map_metadata:s:a:0', '0:s:a:0', '-map_metadata:s:a:0', '1:s:0'];
      await ffmpeg(call, ['-i', file, '-f', 'ffmetadata', '-i', notes, '-map', '0:a', ...tags, '-c', 'copy', draft]);
    } else {
      const tags = ['-metadata:s:v', 'title=Album cover', '-metadata:s:v', 'comment=Cover (front)'];
      const version = extension === '.mp3' ? ['-id3v2_version', '3'] : [];
      await ffmpeg(call, [
        ...['-i', file, '-i', picture, '-map', '0:a', '-map', '1:v', '-c', 'copy'],
        ...['-disposition:v', 'attached_pic', ...tags, ...version, draft],
      ]);
    }
    await rename(draft, file);
  } finally {
    await Promise.all([draft, notes].map(async (path) => await rm(path, { force: true })));
  }
}

/** A FLAC picture block (RFC 9639, 8.8) of a front cover in base64, as Vorbis comments carry it. */
async function pictureBlock(path: string): Promise<string> {
  const picture = await readFile(path);
  const { width, height } = sizeOf(picture);
  const mime = Buffer.from('image/jpeg');
  const numbers = (...values: number[]): Buffer => {
    const bytes = Buffer.alloc(values.length * 4);
    values.forEach((value, index) => bytes.writeUInt32BE(value, index * 4));
    return bytes;
  };
  const frontCover = 3;
  const block = Buffer.concat([
    numbers(frontCover, mime.length),
    mime,
    numbers(0, width, height, 24, 0, picture.length),
    picture,
  ]);
  return block.toString('base64').replaceAll('=', '\\=');
}

/** The size of a JPEG picture from its frame header; zeros where there is none, which readers take for unknown. */
function sizeOf(picture: Buffer): { readonly width: number; readonly height: number } {
  for (let at = 2; at + 9 < picture.length && picture[at] === 0xff;) {
    const marker = picture[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: picture.readUInt16BE(at + 5), width: picture.readUInt16BE(at + 7) };
    at += 2 + picture.readUInt16BE(at + 2);
  }
  return { width: 0, height: 0 };
}
