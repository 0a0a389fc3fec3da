/** Reason why a stream is not visible. */
export interface Removal {
  /** Name of the rule, such as `Excluded Quality`. */
  readonly rule: string;
  /** Value the rule matched, such as `HDTV`. */
  readonly value: string;
  /** Rules that other code reacts to; undefined for others. */
  readonly cause?: 'certification' | 'duplicate' | 'nudity' | 'release_date';
}
