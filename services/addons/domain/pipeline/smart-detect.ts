import type { AddonConfig } from '../config.ts';
import { getBitrate, type ParsedFile, type ParsedStream } from '../stream.ts';

type Options = NonNullable<AddonConfig['deduplicator']>;

const defaultAttributes = [
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
const defaultRounding = 10;

/**
 * Builds a key that is equal for streams of the same release. Returns undefined when a stream has too few attributes.
 */
export function buildSmartDetectKey(
  stream: ParsedStream,
  { smartDetectAttributes, smartDetectRounding }: Options,
): string | undefined {
  const names = smartDetectAttributes?.length ? smartDetectAttributes : defaultAttributes;
  const roundingStep = Math.log(1 + (smartDetectRounding ?? defaultRounding) / 100);
  const roundValue = (value: number): string => (value <= 0 ? '0' : String(Math.round(Math.log(value) / roundingStep)));
  // Without a size, most streams of one resolution would be equal.
  if (names.includes('size') && stream.size === undefined) return undefined;
  const keyParts = names.map((name) => {
    if (name === 'size') return roundValue(stream.size ?? 0);
    if (name === 'bitrate') return roundValue(getBitrate(stream) ?? 0);
    const value = Object.hasOwn(stream.file, name) ? stream.file[name as keyof ParsedFile] : undefined;
    if (value === undefined) return '';
    return typeof value === 'object' ? [...value].map(String).toSorted().join(',') : String(value);
  });
  return keyParts.every((part) => part === '' || part === '0') ? undefined : keyParts.join('|');
}
