/** A reply that refuses. The message carries no status code of RFC 3463: it is added by its SMTP code. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}
