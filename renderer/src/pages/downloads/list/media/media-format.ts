import type { Download } from '../../../../../../services/contracts/downloads/api.ts';

/** Names of codecs as people know them, by their name in ffmpeg. */
const codecNames: Readonly<Record<string, string>> = {
  h264: 'H.264',
  hevc: 'H.265',
  av1: 'AV1',
  vp8: 'VP8',
  vp9: 'VP9',
  mpeg4: 'MPEG-4',
  aac: 'AAC',
  mp3: 'MP3',
  opus: 'Opus',
  vorbis: 'Vorbis',
  flac: 'FLAC',
  alac: 'ALAC',
  ac3: 'AC-3',
  eac3: 'E-AC-3',
};

/** Columns of a finished download. Unknown values are empty. */
export interface MediaColumns {
  /** File type, such as `MP4`. */
  readonly type: string;
  /** Height of the picture, such as `1080p`. */
  readonly quality: string;
  readonly codec: string;
}

/** Formats the columns of a finished download. */
export function formatMediaColumns({ filename, media }: Pick<Download, 'filename' | 'media'>): MediaColumns {
  const codecs = [media?.videoCodec, media?.audioCodec].filter((codec) => codec !== undefined);
  return {
    type: (/\.([^./]{1,5})$/.exec(filename ?? '')?.[1] ?? '').toUpperCase(),
    quality: media?.height === undefined ? '' : `${String(media.height)}p`,
    codec: codecs.map((codec) => codecNames[codec] ?? (codec.startsWith('pcm_') ? 'PCM' : codec)).join(' + '),
  };
}
