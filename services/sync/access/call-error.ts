import type { Text } from '../../contracts/text.ts';

/** Refusal or failure with rclone's message. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly status: number;
  /** The reason for users of the pages; without one, the message is explained. */
  readonly text: Text | undefined;

  constructor(status: number, message: string, text?: Text) {
    super(message);
    this.status = status;
    this.text = text;
  }
}
