import * as m from '#messages/downloads-problems';

/** Post-processors by the extractor's keys, with the equivalent arguments. */
const steps: Readonly<Record<string, (step: Step) => readonly string[] | undefined>> = {
  FFmpegMetadata: ({ add_chapters: chapters, add_metadata: metadata, add_infojson: infoJson }) => [
    ...(metadata === false ? [] : ['--embed-metadata']),
    ...(chapters === false ? ['--no-embed-chapters'] : []),
    ...(infoJson === true ? ['--embed-info-json'] : []),
  ],
  // In the Python interface, the separate file is deleted after embedding, unless it is set to remain.
  EmbedThumbnail: ({ already_have_thumbnail: isKept }) => [
    ...(isKept === true ? [] : ['--no-write-thumbnail']),
    '--embed-thumbnail',
  ],
  FFmpegEmbedSubtitle: ({ already_have_subtitle: isKept }) => [
    '--embed-subs',
    ...(isKept === true ? [] : ['--compat-options=no-keep-subs']),
  ],
  FFmpegVideoRemuxer: ({ preferedformat }) => buildMapping('--remux-video', preferedformat, containers),
  FFmpegVideoConvertor: ({ preferedformat }) => buildMapping('--recode-video', preferedformat, containers),
  FFmpegThumbnailsConvertor: ({ format }) => buildMapping('--convert-thumbnails', format, ['jpg', 'png', 'webp']),
  FFmpegSubtitlesConvertor: ({ format }) =>
    typeof format === 'string' && ['srt', 'vtt', 'ass', 'lrc'].includes(format)
      ? [`--convert-subs=${format}`]
      : undefined,
  FFmpegExtractAudio({ preferredcodec: codec, preferredquality: quality }) {
    const format = buildMapping('--audio-format', codec ?? 'best', audioFormats);
    const categories = typeof quality === 'number' || typeof quality === 'string' ? quality : '5';
    const text = String(categories).replace(/k$/i, '');
    if (format === undefined || !/^\d{1,4}(\.\d{1,3})?$/.test(text)) return undefined;
    // Values up to 10 are a quality of variable bit rate; larger values are the bit rate.
    return ['--extract-audio', ...format, `--audio-quality=${Number(text) > 10 ? `${text}K` : text}`];
  },
};

/** Post-processors that can be ignored safely. */
const ignoredSteps: ReadonlySet<string> = new Set([
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

const audioFormats = ['best', 'aac', 'alac', 'flac', 'm4a', 'mp3', 'opus', 'vorbis', 'wav'];
const containers = [
  ...['avi', 'flv', 'mkv', 'mov', 'mp4', 'webm', 'gif'],
  ...['aac', 'aiff', 'alac', 'flac', 'm4a', 'mka', 'mp3', 'ogg', 'opus', 'vorbis', 'wav'],
];

/** Accepts a format, or rules such as `webm>mkv/mp4`: WebM becomes Matroska, everything else MP4. */
function buildMapping(name: string, value: unknown, allowed: readonly string[]): readonly string[] | undefined {
  const rule = `(?:\\s*\\w+\\s*>)?\\s*(?:${allowed.join('|')})\\s*`;
  const isValid = typeof value === 'string' && value.length <= 500 && new RegExp(`^${rule}(?:/${rule})*$`).test(value);
  return isValid ? [`${name}=${value}`] : undefined;
}

/** The extractor's `postprocessors` as arguments, and the keys that are ignored because they are not understood. */
export interface ParsedPostprocessors {
  readonly args: readonly string[];
  readonly notUnderstood: readonly string[];
}

/** Reads the extractor's `postprocessors`: steps that convert, cut and embed. */
export function readPostprocessors(value: unknown): ParsedPostprocessors {
  if (!Array.isArray(value) || value.length > 100) return { args: [], notUnderstood: ['postprocessors'] };
  const args: string[] = [];
  const notUnderstood: string[] = [];
  const sponsorSteps: (Step & { readonly key: string })[] = [];
  for (const step of value as readonly unknown[]) {
    const key = typeof step === 'object' && step !== null && 'key' in step ? step.key : undefined;
    if (typeof key !== 'string') {
      notUnderstood.push(m.stepWithoutKey());
      continue;
    }
    const namedStep = { ...(step as Step), key };
    if (key === 'SponsorBlock' || key === 'ModifyChapters') sponsorSteps.push(namedStep);
    else if (!ignoredSteps.has(key)) {
      const stepArguments = Object.hasOwn(steps, key) ? steps[key]?.(namedStep) : undefined;
      if (stepArguments === undefined) notUnderstood.push(key);
      else args.push(...stepArguments);
    }
  }
  const sponsorBlockArguments = buildSponsorArguments(sponsorSteps);
  if (sponsorBlockArguments === undefined) notUnderstood.push('SponsorBlock');
  return { args: [...args, ...(sponsorBlockArguments ?? [])], notUnderstood };
}

/** Converts the `postprocessors` of a request; undefined when one of them is not allowed. */
export function buildPostprocessorArguments(value: unknown): readonly string[] | undefined {
  const { args, notUnderstood } = readPostprocessors(value);
  return notUnderstood.length === 0 ? args : undefined;
}

/** Returns the keys of the ignored post-processors. */
export function findIgnoredPostprocessors(value: unknown): readonly string[] {
  const keys = (Array.isArray(value) ? (value as readonly { readonly key?: unknown }[]) : []).map((step) => step?.key);
  return keys.filter((key): key is string => typeof key === 'string' && ignoredSteps.has(key));
}

/** Categories of SponsorBlock; all except two can be removed. */
const markedCategories = [
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
const removableCategories = markedCategories.filter(
  (category) => category !== 'poi_highlight' && category !== 'chapter',
);

/**
 * Combines the step that requests segments and the step that removes some of them; the remaining ones become chapters.
 */
function buildSponsorArguments(all: readonly (Step & { readonly key: string })[]): readonly string[] | undefined {
  const requestStep = all.find(({ key }) => key === 'SponsorBlock');
  const removeStep = all.find(({ key }) => key === 'ModifyChapters');
  const requestedCategories = parseCategories(requestStep?.['categories'] ?? markedCategories, markedCategories);
  const removable = parseCategories(removeStep?.['remove_sponsor_segments'] ?? [], removableCategories);
  if (requestedCategories === undefined || removable === undefined) return undefined;
  const removed = removable.filter((category) => requestedCategories.includes(category));
  const remaining = requestedCategories.filter((category) => !removed.includes(category));
  return [
    ...(requestStep !== undefined && remaining.length > 0 ? [`--sponsorblock-mark=${remaining.join(',')}`] : []),
    ...(requestStep !== undefined && removed.length > 0 ? [`--sponsorblock-remove=${removed.join(',')}`] : []),
    ...(removeStep?.['force_keyframes'] === true ? ['--force-keyframes-at-cuts'] : []),
  ];
}

function parseCategories(value: unknown, allowed: readonly string[]): readonly string[] | undefined {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.every((each): each is string => typeof each === 'string' && allowed.includes(each))
    ? values
    : undefined;
}
