/** A caption: start and end in ms, and its lines. */
export interface Cue {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}
