import type { AttributeLabel } from './stream-attributes.ts';

/** Name of a rule that hides streams, in the words of AIOStreams, whose clients show it. */
export type RemovalRule =
  | `Excluded ${AttributeLabel | 'Cached' | 'Uncached' | 'Season Pack' | 'Seeders' | 'Age' | 'Stream Expression'}`
  | `Required ${AttributeLabel | 'Seeders' | 'Age' | 'Stream Expression'}`
  | `${'Excluded' | 'Required'} Certification`
  | `${'Size' | 'Bitrate' | 'Result'} Limit`
  | `${'Title' | 'Year' | 'Season/Episode'} Matching`
  | 'Excluded Nudity'
  | 'Duplicate'
  | 'Not Released';

/** Case in which the value of a removal is a remark in English and not data of the stream. */
export type RemovalNote = 'too_small' | 'too_large' | 'no_season' | 'no_date' | 'no_year' | 'unknown';

/** Reason why a stream is not visible. */
export interface Removal {
  readonly rule: RemovalRule;
  /** Value the rule matched, such as `HDTV`. */
  readonly value: string;
  readonly note?: RemovalNote;
  /** Rules that other code reacts to; undefined for others. */
  readonly cause?: 'certification' | 'duplicate' | 'nudity' | 'release_date';
}
