/** What a template did wrong while it ran, in the words of the peer. The text is bytes. */
export class RunFault extends Error {}

/** A template used up what it may use. */
export class BoundsFault extends Error {
  readonly kind: 'time' | 'size';
  constructor(kind: 'time' | 'size') {
    super(kind);
    this.kind = kind;
  }
}
