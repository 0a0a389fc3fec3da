import { readFile, rm, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { replaceFile } from '../../kit/platform/file-replacement.ts';
import { ffmpeg, type FfmpegCall } from './ffmpeg.ts';

/** File extensions that support a cover. */
const coverExtensions = new Set(['.mp3', '.m4a', '.flac', '.ogg', '.opus']);

/** Embeds a JPEG picture into an audio file as its cover; audio and tags are copied. */
export async function embedCover(call: FfmpegCall, file: string, picture: string, scratch: string): Promise<void> {
  const extension = extname(file);
  if (!coverExtensions.has(extension)) return;
  const draftFile = join(scratch, `cover${extension}`);
  const metadataFile = join(scratch, 'cover.txt');
  try {
    if (extension === '.ogg' || extension === '.opus') {
      // Ogg has no picture streams: the cover is a comment.
      await writeFile(
        metadataFile,
        `;FFMETADATA1\n[STREAM]\nMETADATA_BLOCK_PICTURE=${await buildPictureBlock(picture)}\n`,
      );
      const tags = ['-map_metadata:s:a:0', '0:s:a:0', '-map_metadata:s:a:0', '1:s:0'];
      await ffmpeg(call, [
        '-i',
        file,
        '-f',
        'ffmetadata',
        '-i',
        metadataFile,
        '-map',
        '0:a',
        ...tags,
        '-c',
        'copy',
        draftFile,
      ]);
    } else {
      const tags = ['-metadata:s:v', 'title=Album cover', '-metadata:s:v', 'comment=Cover (front)'];
      const version = extension === '.mp3' ? ['-id3v2_version', '3'] : [];
      await ffmpeg(call, [
        ...['-i', file, '-i', picture, '-map', '0:a', '-map', '1:v', '-c', 'copy'],
        ...['-disposition:v', 'attached_pic', ...tags, ...version, draftFile],
      ]);
    }
    await replaceFile(draftFile, file);
  } finally {
    await Promise.all([draftFile, metadataFile].map(async (path) => await rm(path, { force: true })));
  }
}

/** Builds a FLAC picture block (RFC 9639, 8.8) of a front cover in base64, as used in Vorbis comments. */
async function buildPictureBlock(path: string): Promise<string> {
  const picture = await readFile(path);
  const { width, height } = readJpegSize(picture);
  const mime = Buffer.from('image/jpeg');
  const encodeNumbers = (...values: number[]): Buffer => {
    const bytes = Buffer.alloc(values.length * 4);
    values.forEach((value, index) => bytes.writeUInt32BE(value, index * 4));
    return bytes;
  };
  const frontCover = 3;
  const block = Buffer.concat([
    encodeNumbers(frontCover, mime.length),
    mime,
    encodeNumbers(0, width, height, 24, 0, picture.length),
    picture,
  ]);
  return block.toString('base64').replaceAll('=', '\\=');
}

/** Reads the size of a JPEG picture from its frame header; zeros when it is unknown. */
function readJpegSize(picture: Buffer): { readonly width: number; readonly height: number } {
  for (let offset = 2; offset + 9 < picture.length && picture[offset] === 0xff;) {
    const marker = picture[offset + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: picture.readUInt16BE(offset + 5), width: picture.readUInt16BE(offset + 7) };
    offset += 2 + picture.readUInt16BE(offset + 2);
  }
  return { width: 0, height: 0 };
}
