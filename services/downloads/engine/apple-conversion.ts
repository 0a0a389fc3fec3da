import { open, rename, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { ffmpeg, streamsOf, type FfmpegCall, type StreamKind } from './ffmpeg.ts';

/**
 * Makes of a video one that every Apple device plays and can begin to play at once: H.264 or HEVC with AAC in MP4, its
 * index in front. Only what is not so is encoded anew. Returns the path, which ends in `.mp4`.
 */
export async function makeApple(call: FfmpegCall, file: string, scratch: string): Promise<string> {
  const streams = await streamsOf(call, file);
  const video = streams.filter(({ kind }) => kind === 'video');
  const audio = streams.filter(({ kind }) => kind === 'audio');
  const plays = video.every(isPlayable) && audio.every(({ codec }) => codec === 'aac');
  const tagged = video.every(({ codec, details }) => codec !== 'hevc' || details.includes('(hvc1'));
  const isMp4 = extname(file) === '.mp4';
  if (isMp4 && plays && tagged && (await isIndexFirst(file))) return file;
  const target = isMp4 ? file : `${file.slice(0, -extname(file).length)}.mp4`;
  const draft = join(scratch, 'apple.mp4');
  await ffmpeg(call, [
    ...['-i', file, '-map', '0:v:0?', '-map', '0:a?', '-map', '0:s?', '-dn'],
    ...(video.every(isPlayable) ? ['-c:v', 'copy'] : ['-c:v', 'libx264', '-preset', 'fast', '-pix_fmt', 'yuv420p']),
    ...(video[0]?.codec === 'hevc' ? ['-tag:v', 'hvc1'] : []),
    ...(audio.every(({ codec }) => codec === 'aac') ? ['-c:a', 'copy'] : ['-c:a', 'aac', '-b:a', '192k']),
    ...['-c:s', 'mov_text', '-movflags', '+faststart', '-f', 'mp4', draft],
  ]);
  await rename(draft, target);
  if (target !== file) await rm(file);
  return target;
}

/** Ten bits a colour are fine with HEVC and not with H.264. */
function isPlayable({ codec, details }: StreamKind): boolean {
  return codec === 'hevc' || (codec === 'h264' && /\byuvj?420p\b/.test(details));
}

/** Whether an MP4 file's index (`moov`) comes before its media (`mdat`); ISO/IEC 14496-12, 4.2. */
async function isIndexFirst(file: string): Promise<boolean> {
  await using handle = await open(file, 'r');
  const { size: length } = await handle.stat();
  const head = Buffer.alloc(16);
  for (let at = 0; at < length;) {
    const { bytesRead } = await handle.read(head, 0, 16, at);
    if (bytesRead < 8) return false;
    const name = head.toString('latin1', 4, 8);
    if (name === 'moov') return true;
    if (name === 'mdat') return false;
    const size = head.readUInt32BE(0);
    const whole = size === 1 && bytesRead === 16 ? Number(head.readBigUInt64BE(8)) : size;
    if (whole < 8) return false;
    at += whole;
  }
  return false;
}
