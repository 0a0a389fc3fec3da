import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface MediaStream {
  readonly kind: string;
  readonly codec: string;
  /** As players on Apple's devices look at it, e.g. `hvc1`. */
  readonly tag: string;
  readonly height: number | undefined;
  readonly language: string | undefined;
  /** A picture of the whole, not a video. */
  readonly cover: boolean;
}

export interface Media {
  /** ffprobe's name of the container, e.g. `matroska,webm`. */
  readonly container: string;
  readonly seconds: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly streams: readonly MediaStream[];
  /** `h264/720`, `aac`: what the picture and the sound are; captions and covers are left out. */
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

/** A file as ffprobe sees it. */
export async function mediaOf(path: string): Promise<Media> {
  const args = ['-v', 'error', '-show_format', '-show_streams', '-of', 'json', path];
  const { format, streams } = JSON.parse((await run('ffprobe', args)).stdout) as Probed;
  const found = streams.map(({ codec_type: kind, codec_name: codec = '', codec_tag_string: tag, height, ...more }) => ({
    kind,
    codec,
    tag,
    height,
    language: more.tags?.['language'],
    cover: more.disposition?.['attached_pic'] === 1,
  }));
  const heard = found.filter(({ kind, cover }) => !cover && (kind === 'video' || kind === 'audio'));
  const tags = { ...format.tags, ...streams.find(({ codec_type: kind }) => kind === 'audio')?.tags };
  return {
    container: format.format_name,
    seconds: Number(format.duration),
    tags: Object.fromEntries(Object.entries(tags).map(([name, value]) => [name.toLowerCase(), value])),
    streams: found,
    codecs: heard.map(({ kind, codec, height }) => (kind === 'video' ? `${codec}/${height}` : codec)),
  };
}
