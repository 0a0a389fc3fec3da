/** Steps after the transfer by the extractor's own keys, with the arguments that mean the same. */
const steps: Readonly<Record<string, (step: Step) => readonly string[] | undefined>> = {
  FFmpegMetadata: ({ add_chapters: chapters }) => [
    '--embed-metadata',
    ...(chapters === false ? ['--no-embed-chapters'] : []),
  ],
  EmbedThumbnail: () => ['--embed-thumbnail'],
  FFmpegEmbedSubtitle: () => ['--embed-subs'],
  FFmpegVideoRemuxer: ({ preferedformat }) => choice('--remux-video', preferedformat, containers),
  FFmpegVideoConvertor: ({ preferedformat }) => choice('--recode-video', preferedformat, containers),
  FFmpegThumbnailsConvertor: ({ format }) => choice('--convert-thumbnails', format, ['jpg', 'png', 'webp']),
  FFmpegSubtitlesConvertor: ({ format }) => choice('--convert-subs', format, ['srt', 'vtt', 'ass', 'lrc']),
  FFmpegExtractAudio({ preferredcodec: codec = 'best', preferredquality: quality = '5' }) {
    const format = choice('--audio-format', codec, sounds);
    const fits = /^\d{1,3}$/.test(String(quality));
    return format === undefined || !fits
      ? undefined
      : [
          '--extract-audio',
          ...format,
          `--audio-quality=${Number(quality) > 10 ? `${Number(quality)}K` : Number(quality)}`,
        ];
  },
};

type Step = Readonly<Record<string, unknown>>;

const containers = ['mp4', 'mkv', 'webm', 'mov', 'avi', 'flv'];
const sounds = ['best', 'aac', 'alac', 'flac', 'm4a', 'mp3', 'opus', 'vorbis', 'wav'];

function choice(name: string, value: unknown, allowed: readonly string[]): readonly string[] | undefined {
  return typeof value === 'string' && allowed.includes(value) ? [`${name}=${value}`] : undefined;
}

/** The extractor's `postprocessors`, those that convert and embed; undefined when one is not among them. */
export function postprocessorArguments(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length > 20) return undefined;
  const found: string[] = [];
  for (const step of value as readonly unknown[]) {
    if (typeof step !== 'object' || step === null || !('key' in step) || typeof step.key !== 'string') return undefined;
    const args = Object.hasOwn(steps, step.key) ? steps[step.key]?.(step) : undefined;
    if (args === undefined) return undefined;
    found.push(...args);
  }
  return found;
}
