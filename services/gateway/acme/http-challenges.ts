/** Path prefix of the challenges (RFC 8555, 8.3). */
const prefix = '/.well-known/acme-challenge/';

/** Answers of the HTTP challenges that the authority is validating, by token. */
export class HttpChallenges {
  readonly #answers = new Map<string, string>();

  /** True while an order waits for a validation over HTTP. */
  get isActive(): boolean {
    return this.#answers.size > 0;
  }

  add(token: string, keyAuthorization: string): Disposable {
    this.#answers.set(token, keyAuthorization);
    return { [Symbol.dispose]: () => void this.#answers.delete(token) };
  }

  /** Returns the answer for a path; undefined for other paths and tokens. */
  find(path: string): string | undefined {
    return path.startsWith(prefix) ? this.#answers.get(path.slice(prefix.length)) : undefined;
  }
}
