/** Negative SMTP reply. The message contains no enhanced status code (RFC 3463), which is added by reply code. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}
