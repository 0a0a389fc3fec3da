/** Reference that a push creates, moves or deletes. An ID of zeros means that the reference does not exist. */
export interface RefChange {
  readonly ref: string;
  readonly before: string;
  readonly after: string;
}

/** ID of a reference that does not exist. */
export const zeroId = '0'.repeat(40);
