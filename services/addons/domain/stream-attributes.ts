import type { ParsedStream } from './stream.ts';

const unknownValue = ['Unknown'];
const toList = (value: string | undefined): readonly string[] => (value === undefined ? unknownValue : [value]);
const orUnknown = (values: readonly string[]): readonly string[] => (values.length === 0 ? unknownValue : values);

/** Adds the combined tags that several tags imply. */
function visualTags({ file }: ParsedStream): readonly string[] {
  const tags = file.visualTags;
  if (tags.length === 0) return unknownValue;
  const dolbyVision = tags.includes('DV');
  const highRange = tags.some((tag) => tag === 'HDR' || tag === 'HDR10' || tag === 'HDR10+' || tag === 'HLG');
  if (dolbyVision && highRange) return [...tags, 'HDR+DV'];
  if (dolbyVision) return [...tags, 'DV Only'];
  return highRange ? [...tags, 'HDR Only'] : tags;
}

/** Attributes for filters and preferences with their names in a configuration. Missing values are `Unknown`. */
export const attributes = {
  Resolutions: (stream: ParsedStream) => toList(stream.file.resolution),
  Qualities: (stream: ParsedStream) => toList(stream.file.quality),
  Languages: (stream: ParsedStream) => orUnknown(stream.file.languages),
  Subtitles: (stream: ParsedStream) => orUnknown(stream.file.subtitles),
  VisualTags: visualTags,
  AudioTags: (stream: ParsedStream) => orUnknown(stream.file.audioTags),
  AudioChannels: (stream: ParsedStream) => orUnknown(stream.file.audioChannels),
  StreamTypes: (stream: ParsedStream) => [stream.type],
  Encodes: (stream: ParsedStream) => toList(stream.file.encode),
  ReleaseGroups: (stream: ParsedStream) => toList(stream.file.releaseGroup),
} as const;
export type Attribute = keyof typeof attributes;

/** Labels of the attributes. */
export const attributeLabels = {
  Resolutions: 'Resolution',
  Qualities: 'Quality',
  Languages: 'Language',
  Subtitles: 'Subtitle',
  VisualTags: 'Visual Tag',
  AudioTags: 'Audio Tag',
  AudioChannels: 'Audio Channel',
  StreamTypes: 'Stream Type',
  Encodes: 'Encode',
  ReleaseGroups: 'Release Group',
  Keywords: 'Keyword',
  RegexPatterns: 'Expression',
} as const satisfies Readonly<Record<Attribute | 'Keywords' | 'RegexPatterns', string>>;

export type AttributeLabel = (typeof attributeLabels)[keyof typeof attributeLabels];

/** Returns the text that keywords and patterns search. */
export function getSearchText({ filename, folderName, indexer, file }: ParsedStream): string {
  return [filename, folderName, indexer, file.releaseGroup].filter((part) => part !== undefined).join('\n');
}

/** Returns true when a stream plays without a download. */
export function isCached({ service }: ParsedStream): boolean {
  return service === undefined || service.cached;
}
