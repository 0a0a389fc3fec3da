/** Steps after the transfer by the extractor's own keys, with the arguments that mean the same. */
const steps: Readonly<Record<string, (step: Step) => readonly string[] | undefined>> = {
  FFmpegMetadata: ({ add_chapters: chapters }) => [
    '--embed-metadata',
    ...(chapters === false ? ['--no-embed-chapters'] : []),
  ],
  // By the Python interface the file beside it goes once it is inside, unless it is said to stay.
  EmbedThumbnail: ({ already_have_thumbnail: stays }) => [
    ...(stays === true ? [] : ['--no-write-thumbnail']),
    '--embed-thumbnail',
  ],
  FFmpegEmbedSubtitle: ({ already_have_subtitle: stays }) => [
    '--embed-subs',
    ...(stays === true ? [] : ['--compat-options=no-keep-subs']),
  ],
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

/** Steps that do no harm by being left out. */
const leftOut: ReadonlySet<string> = new Set([
  ...[
    'XAttrMetadata',
    'FFmpegSplitChapters',
    'FFmpegConcat',
    'FFmpegCopyStream',
    'MetadataParser',
    'MetadataFromField',
  ],
  ...['MetadataFromTitle', 'MoveFilesAfterDownload', 'FFmpegFixupM3u8', 'FFmpegFixupM4a', 'FFmpegFixupStretched'],
]);

type Step = Readonly<Record<string, unknown>>;

const containers = ['mp4', 'mkv', 'webm', 'mov', 'avi', 'flv'];
const sounds = ['best', 'aac', 'alac', 'flac', 'm4a', 'mp3', 'opus', 'vorbis', 'wav'];

function choice(name: string, value: unknown, allowed: readonly string[]): readonly string[] | undefined {
  return typeof value === 'string' && allowed.includes(value) ? [`${name}=${value}`] : undefined;
}

/** The extractor's `postprocessors`, those that convert, cut and embed; undefined when one may not be among them. */
export function postprocessorArguments(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length > 20) return undefined;
  const found: string[] = [];
  const all: (Step & { readonly key: string })[] = [];
  for (const step of value as readonly unknown[]) {
    if (typeof step !== 'object' || step === null || !('key' in step) || typeof step.key !== 'string') return undefined;
    all.push({ ...step, key: step.key });
    if (leftOut.has(step.key) || step.key === 'SponsorBlock' || step.key === 'ModifyChapters') continue;
    const args = Object.hasOwn(steps, step.key) ? steps[step.key]?.(step) : undefined;
    if (args === undefined) return undefined;
    found.push(...args);
  }
  const cuts = sponsorArguments(all);
  return cuts === undefined ? undefined : [...found, ...cuts];
}

/** Keys of the steps that are left out. */
export function postprocessorsLeftOut(value: unknown): readonly string[] {
  const keys = (Array.isArray(value) ? (value as readonly { readonly key?: unknown }[]) : []).map(({ key }) => key);
  return keys.filter((key): key is string => typeof key === 'string' && leftOut.has(key));
}

/** What SponsorBlock knows, and of that what can be cut out. */
const marked = ['sponsor', 'selfpromo', 'interaction', 'intro', 'outro', 'preview', 'hook', 'filler', 'music_offtopic', 'poi_highlight', 'chapter']; // prettier-ignore
const cuttable = marked.filter((category) => category !== 'poi_highlight' && category !== 'chapter');

/** One step asks for the segments, another cuts some of them out; what is left becomes chapters. */
function sponsorArguments(all: readonly (Step & { readonly key: string })[]): readonly string[] | undefined {
  const asking = all.find(({ key }) => key === 'SponsorBlock');
  const cutting = all.find(({ key }) => key === 'ModifyChapters');
  const asked = categoriesOf(asking?.['categories'] ?? marked, marked);
  const cut = categoriesOf(cutting?.['remove_sponsor_segments'] ?? [], cuttable);
  if (asked === undefined || cut === undefined) return undefined;
  const removed = cut.filter((category) => asked.includes(category));
  const kept = asked.filter((category) => !removed.includes(category));
  return [
    ...(asking !== undefined && kept.length > 0 ? [`--sponsorblock-mark=${kept.join(',')}`] : []),
    ...(asking !== undefined && removed.length > 0 ? [`--sponsorblock-remove=${removed.join(',')}`] : []),
    ...(cutting?.['force_keyframes'] === true ? ['--force-keyframes-at-cuts'] : []),
  ];
}

function categoriesOf(value: unknown, known: readonly string[]): readonly string[] | undefined {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  return given.every((each): each is string => typeof each === 'string' && known.includes(each)) ? given : undefined;
}
