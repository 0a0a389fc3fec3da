/** Reason why a stream is not visible. */
export interface Removal {
  /** Name of the rule, such as `Excluded Quality`. */
  readonly rule: string;
  /** Value the rule matched, such as `HDTV`. */
  readonly value: string;
}
