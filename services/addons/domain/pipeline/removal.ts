/** Why a stream is not shown. */
export interface Removal {
  /** The rule, such as `Excluded Quality`. */
  readonly rule: string;
  /** What made it apply, such as `HDTV`. */
  readonly value: string;
}
