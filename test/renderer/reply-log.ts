import type { Page, Request } from 'playwright-core';

/** Time for a reply in ms, also on a busy computer. */
const maxReplyMs = 20_000;

/** Returns true for a request of the app API for data, without the event stream. */
function isDataRequest(request: Request): boolean {
  const { pathname } = new URL(request.url());
  return request.method() === 'GET' && pathname.startsWith('/api/') && pathname !== '/api/events';
}

/** Records the requests of a page, and which replies of the app API contain texts of the host. */
export class ReplyLog {
  readonly #pending = new Set<Request>();
  /** Language of the texts in the latest reply by URL; undefined for a reply without texts. */
  readonly #languages = new Map<string, string | undefined>();
  #requests: { readonly type: string; readonly url: string; readonly isData: boolean }[] = [];
  #changed = Promise.withResolvers<void>();

  constructor(page: Page) {
    page.on('request', (request) => {
      const isData = isDataRequest(request);
      this.#requests.push({ type: request.resourceType(), url: request.url(), isData });
      if (isData) this.#pending.add(request);
    });
    page.on('response', (response) => {
      const language = response.headers()['content-language'];
      if (isDataRequest(response.request())) this.#languages.set(response.url(), language);
      this.#notify();
    });
    const end = (request: Request): void => {
      this.#pending.delete(request);
      this.#notify();
    };
    page.on('requestfinished', end);
    page.on('requestfailed', end);
  }

  /** URLs of the latest replies, those with texts of the host or those without. */
  list(withTexts: boolean): readonly string[] {
    return [...this.#languages].filter(([, language]) => (language !== undefined) === withTexts).map(([url]) => url);
  }

  /** Forgets all requests and replies. */
  clear(): void {
    this.#requests = [];
    this.#languages.clear();
  }

  clearRequests(): void {
    this.#requests = [];
  }

  /** Number of requests of a URL since the last {@link clearRequests}. */
  count(url: string): number {
    return this.#requests.filter((request) => request.url === url).length;
  }

  /** Requested documents and data since the last {@link clearRequests}. */
  get requests(): readonly { readonly type: string; readonly url: string; readonly isData: boolean }[] {
    return this.#requests;
  }

  /** Resolves when all requests of data are answered. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await this.#changed.promise;
  }

  /**
   * Resolves when the latest replies of the URLs have texts in a language. Returns the URLs for which that took too long.
   */
  async waitForLanguage(urls: readonly string[], language: string): Promise<readonly string[]> {
    const isLate = AbortSignal.timeout(maxReplyMs);
    isLate.addEventListener('abort', () => this.#notify());
    for (;;) {
      const missing = urls.filter((url) => this.#languages.get(url) !== language);
      if (missing.length === 0 || isLate.aborted) return missing;
      await this.#changed.promise;
    }
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
