/** Unsent comment on a line; negative numbers refer to the old file. */
export interface LineComment {
  readonly path: string;
  readonly line: number;
  text: string;
}
