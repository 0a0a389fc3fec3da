import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface MediaStream {
  readonly kind: string;
  readonly codec: string;
  /** Codec tag that Apple's players check, such as `hvc1`. */
  readonly tag: string;
  readonly height: number | undefined;
  readonly language: string | undefined;
  /** True for a cover image instead of a video. */
  readonly cover: boolean;
}

export interface Media {
  /** Name of the container in ffprobe, such as `matroska,webm`. */
  readonly container: string;
  readonly seconds: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly streams: readonly MediaStream[];
  /** Video and audio streams such as `h264/720` and `aac`, without captions and covers. */
  readonly codecs: readonly string[];
}

interface Probed {
  readonly format: { format_name: string; duration?: string; tags?: Record<string, string> };
  readonly streams: readonly {
    codec_type: string;
    codec_name?: string;
    codec_tag_string: string;
    height?: number;
    tags?: Record<string, string>;
    disposition?: Record<string, number>;
  }[];
}

/** Reads the streams of a file with ffprobe. */
export async function readMedia(path: string): Promise<Media> {
  const args = ['-v', 'error', '-show_format', '-show_streams', '-of', 'json', path];
  const { format, streams } = JSON.parse((await run('ffprobe', args)).stdout) as Probed;
  const media = streams.map(({ codec_type: kind, codec_name: codec = '', codec_tag_string: tag, height, ...more }) => ({
    kind,
    codec,
    tag,
    height,
    language: more.tags?.['language'],
    cover: more.disposition?.['attached_pic'] === 1,
  }));
  const mediaStreams = media.filter(({ kind, cover }) => !cover && (kind === 'video' || kind === 'audio'));
  const tags = { ...format.tags, ...streams.find(({ codec_type: kind }) => kind === 'audio')?.tags };
  return {
    container: format.format_name,
    seconds: Number(format.duration),
    tags: Object.fromEntries(Object.entries(tags).map(([name, value]) => [name.toLowerCase(), value])),
    streams: media,
    codecs: mediaStreams.map(({ kind, codec, height }) => (kind === 'video' ? `${codec}/${height}` : codec)),
  };
}
