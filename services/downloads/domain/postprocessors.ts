/** Steps after the transfer by the extractor's own keys, with the arguments that mean the same. */
const steps: Readonly<Record<string, (step: Step) => readonly string[] | undefined>> = {
  FFmpegMetadata: ({ add_chapters: chapters, add_metadata: metadata, add_infojson: about }) => [
    ...(metadata === false ? [] : ['--embed-metadata']),
    ...(chapters === false ? ['--no-embed-chapters'] : []),
    ...(about === true ? ['--embed-info-json'] : []),
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
  FFmpegVideoRemuxer: ({ preferedformat }) => mapping('--remux-video', preferedformat, containers),
  FFmpegVideoConvertor: ({ preferedformat }) => mapping('--recode-video', preferedformat, containers),
  FFmpegThumbnailsConvertor: ({ format }) => mapping('--convert-thumbnails', format, ['jpg', 'png', 'webp']),
  FFmpegSubtitlesConvertor: ({ format }) =>
    typeof format === 'string' && ['srt', 'vtt', 'ass', 'lrc'].includes(format)
      ? [`--convert-subs=${format}`]
      : undefined,
  FFmpegExtractAudio({ preferredcodec: codec, preferredquality: quality }) {
    const format = mapping('--audio-format', codec ?? 'best', sounds);
    const given = typeof quality === 'number' || typeof quality === 'string' ? quality : '5';
    const text = String(given).replace(/k$/i, '');
    if (format === undefined || !/^\d{1,4}(\.\d{1,3})?$/.test(text)) return undefined;
    // Up to 10 it is a quality of variable bit rate, above it the bit rate.
    return ['--extract-audio', ...format, `--audio-quality=${Number(text) > 10 ? `${text}K` : text}`];
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

const sounds = ['best', 'aac', 'alac', 'flac', 'm4a', 'mp3', 'opus', 'vorbis', 'wav'];
const containers = [
  ...['avi', 'flv', 'mkv', 'mov', 'mp4', 'webm', 'gif'],
  ...['aac', 'aiff', 'alac', 'flac', 'm4a', 'mka', 'mp3', 'ogg', 'opus', 'vorbis', 'wav'],
];

/** A format, or rules such as `webm>mkv/mp4`: WebM becomes Matroska, anything else MP4. */
function mapping(name: string, value: unknown, allowed: readonly string[]): readonly string[] | undefined {
  const rule = `(?:\\s*\\w+\\s*>)?\\s*(?:${allowed.join('|')})\\s*`;
  const fits = typeof value === 'string' && value.length <= 500 && new RegExp(`^${rule}(?:/${rule})*$`).test(value);
  return fits ? [`${name}=${value}`] : undefined;
}

/** The steps of the extractor's `postprocessors` as arguments, and those that are left out because they are not understood. */
export interface ReadSteps {
  readonly args: readonly string[];
  readonly notUnderstood: readonly string[];
}

/** Reads the extractor's `postprocessors`: steps that convert, cut and embed. */
export function readPostprocessors(value: unknown): ReadSteps {
  if (!Array.isArray(value) || value.length > 100) return { args: [], notUnderstood: ['postprocessors'] };
  const args: string[] = [];
  const notUnderstood: string[] = [];
  const known: (Step & { readonly key: string })[] = [];
  for (const step of value as readonly unknown[]) {
    const key = typeof step === 'object' && step !== null && 'key' in step ? step.key : undefined;
    if (typeof key !== 'string') {
      notUnderstood.push('a step without a key');
      continue;
    }
    const named = { ...(step as Step), key };
    if (key === 'SponsorBlock' || key === 'ModifyChapters') known.push(named);
    else if (!leftOut.has(key)) {
      const found = Object.hasOwn(steps, key) ? steps[key]?.(named) : undefined;
      if (found === undefined) notUnderstood.push(key);
      else args.push(...found);
    }
  }
  const cuts = sponsorArguments(known);
  if (cuts === undefined) notUnderstood.push('SponsorBlock');
  return { args: [...args, ...(cuts ?? [])], notUnderstood };
}

/** The same for a request, which is refused where one of its steps may not be. */
export function postprocessorArguments(value: unknown): readonly string[] | undefined {
  const { args, notUnderstood } = readPostprocessors(value);
  return notUnderstood.length === 0 ? args : undefined;
}

/** Keys of the steps that are left out. */
export function postprocessorsLeftOut(value: unknown): readonly string[] {
  const keys = (Array.isArray(value) ? (value as readonly { readonly key?: unknown }[]) : []).map((step) => step?.key);
  return keys.filter((key): key is string => typeof key === 'string' && leftOut.has(key));
}

/** What SponsorBlock knows, and of that what can be cut out. */
const marked = [
  'sponsor',
  'selfpromo',
  'interaction',
  'intro',
  'outro',
  'preview',
  'hook',
  'filler',
  'music_offtopic',
  'poi_highlight',
  'chapter',
];
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
