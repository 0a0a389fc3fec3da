/** A remark on a line that is not sent yet; a negative line is one of the old file. */
export interface Remark {
  readonly path: string;
  readonly line: number;
  text: string;
}
