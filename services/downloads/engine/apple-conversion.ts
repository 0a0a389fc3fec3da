import { open, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { replaceFile } from '../../kit/platform/file-replacement.ts';
import { ffmpeg, readStreams, type FfmpegCall, type StreamKind } from './ffmpeg.ts';

/**
 * Converts a video for all Apple devices, which can start to play it immediately: H.264 or HEVC with AAC in MP4, with
 * the index first. Streams that already fit are copied. Returns the path, which ends in `.mp4`.
 */
export async function convertForApple(call: FfmpegCall, file: string, scratch: string): Promise<string> {
  const streams = await readStreams(call, file);
  const video = streams.filter(({ kind }) => kind === 'video');
  const audio = streams.filter(({ kind }) => kind === 'audio');
  const isSupported = video.every(isPlayable) && audio.every(({ codec }) => codec === 'aac');
  const isTagged = video.every(({ codec, details }) => codec !== 'hevc' || details.includes('(hvc1'));
  const isMp4 = extname(file) === '.mp4';
  if (isMp4 && isSupported && isTagged && (await isIndexFirst(file))) return file;
  const target = isMp4 ? file : `${file.slice(0, -extname(file).length)}.mp4`;
  const draftFile = join(scratch, 'apple.mp4');
  await ffmpeg(call, [
    ...['-i', file, '-map', '0:v:0?', '-map', '0:a?', '-map', '0:s?', '-dn'],
    ...(video.every(isPlayable) ? ['-c:v', 'copy'] : ['-c:v', 'libx264', '-preset', 'fast', '-pix_fmt', 'yuv420p']),
    ...(video[0]?.codec === 'hevc' ? ['-tag:v', 'hvc1'] : []),
    ...(audio.every(({ codec }) => codec === 'aac') ? ['-c:a', 'copy'] : ['-c:a', 'aac', '-b:a', '192k']),
    ...['-c:s', 'mov_text', '-movflags', '+faststart', '-f', 'mp4', draftFile],
  ]);
  await replaceFile(draftFile, target);
  if (target !== file) await rm(file);
  return target;
}

/** Ten bits per color are supported with HEVC, but not with H.264. */
function isPlayable({ codec, details }: StreamKind): boolean {
  return codec === 'hevc' || (codec === 'h264' && /\byuvj?420p\b/.test(details));
}

/** Returns whether the index (`moov`) of an MP4 file precedes its media (`mdat`); ISO/IEC 14496-12, 4.2. */
async function isIndexFirst(file: string): Promise<boolean> {
  await using handle = await open(file, 'r');
  const { size: length } = await handle.stat();
  const head = Buffer.alloc(16);
  for (let offset = 0; offset < length;) {
    const { bytesRead } = await handle.read(head, 0, 16, offset);
    if (bytesRead < 8) return false;
    const name = head.toString('latin1', 4, 8);
    if (name === 'moov') return true;
    if (name === 'mdat') return false;
    const size = head.readUInt32BE(0);
    const boxSize = size === 1 && bytesRead === 16 ? Number(head.readBigUInt64BE(8)) : size;
    if (boxSize < 8) return false;
    offset += boxSize;
  }
  return false;
}
