/** Runtime error of a template with ntfy's message. The text is bytes. */
export class ExecutionError extends Error {}

/** A template exceeded a limit. */
export class LimitError extends Error {
  readonly kind: 'time' | 'size';
  constructor(kind: 'time' | 'size') {
    super(kind);
    this.kind = kind;
  }
}
