import type { ApiRoute } from '../../../../services/contracts/api.ts';
import { call, type CallOptions } from '../../api/call.ts';
import { isReplyWithTexts } from '../../api/reply-language.ts';

/** Calls of a load that can be repeated for its texts: replies without texts of the host are then not requested again. */
export class RepeatableCalls {
  /** True when a reply of the last load contains texts of the host. */
  hasHostTexts = false;
  /** Replies without texts of the host, by route and parameters. */
  readonly #plainReplies = new Map<string, unknown>();

  /** Begins a load. `isStale` requests everything again, because the data may have changed. */
  begin(isStale: boolean): void {
    this.hasHostTexts = false;
    if (isStale) this.#plainReplies.clear();
  }

  /** Works like {@link call}. */
  async request<Query, Body, Reply>(
    route: ApiRoute<Query, Body, Reply>,
    options: CallOptions<Query, Body> = {},
  ): Promise<Reply> {
    const key = JSON.stringify([route.path, options.params, options.query]);
    if (this.#plainReplies.has(key)) return this.#plainReplies.get(key) as Reply;
    const reply = await call(route, options);
    if (isReplyWithTexts(reply)) this.hasHostTexts = true;
    else this.#plainReplies.set(key, reply);
    return reply;
  }
}
