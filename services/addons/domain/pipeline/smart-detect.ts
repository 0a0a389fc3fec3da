import type { AddonConfig } from '../config.ts';
import { bitrateOf, type ParsedFile, type ParsedStream } from '../stream.ts';

type Options = NonNullable<AddonConfig['deduplicator']>;

const usual = [
  'title',
  'year',
  'seasons',
  'episodes',
  'resolution',
  'quality',
  'encode',
  'visualTags',
  'audioTags',
  'languages',
  'size',
];
const usualRounding = 10;

/**
 * Builds a key that is equal for streams of the same release. Returns undefined when a stream has too few attributes.
 */
export function detectedOf(
  stream: ParsedStream,
  { smartDetectAttributes, smartDetectRounding }: Options,
): string | undefined {
  const names = smartDetectAttributes?.length ? smartDetectAttributes : usual;
  const step = Math.log(1 + (smartDetectRounding ?? usualRounding) / 100);
  const rounded = (value: number): string => (value <= 0 ? '0' : String(Math.round(Math.log(value) / step)));
  // Without a size, most streams of one resolution would be equal.
  if (names.includes('size') && stream.size === undefined) return undefined;
  const parts = names.map((name) => {
    if (name === 'size') return rounded(stream.size ?? 0);
    if (name === 'bitrate') return rounded(bitrateOf(stream) ?? 0);
    const value = Object.hasOwn(stream.file, name) ? stream.file[name as keyof ParsedFile] : undefined;
    if (value === undefined) return '';
    return typeof value === 'object' ? [...value].map(String).toSorted().join(',') : String(value);
  });
  return parts.every((part) => part === '' || part === '0') ? undefined : parts.join('|');
}
