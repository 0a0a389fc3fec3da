/** One caption: from and to in ms, and its lines. */
export interface Cue {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}
