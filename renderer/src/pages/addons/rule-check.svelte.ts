import { addonsApi } from '../../../../services/contracts/addons/api.ts';
import { call, formatError } from '../../api/call.ts';

/** What is wrong with the rules of a configuration while it is edited. */
export class RuleCheck {
  #problems = $state.raw<Readonly<Record<string, string>>>({});
  #trouble = $state('');
  #looked = '';

  /** Why nothing can be said of the rules, where that is so. */
  get trouble(): string {
    return this.#trouble;
  }

  /** What is wrong at a place, such as `groups.1`; empty: nothing. */
  at(place: string): string {
    return this.#problems[place] ?? '';
  }

  /** What is wrong anywhere in a list. */
  within(list: string): string {
    return Object.entries(this.#problems)
      .flatMap(([at, text]) => (at.startsWith(`${list}.`) ? text : []))
      .join(' ');
  }

  async look(config: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    const text = JSON.stringify(config);
    if (text === this.#looked) return;
    try {
      const { problems } = await call(addonsApi.rules, { body: { config }, signal });
      this.#problems = Object.fromEntries(problems.map(({ at, sentence: said }) => [at, said]));
      this.#trouble = '';
      this.#looked = text;
    } catch (error) {
      if (!signal.aborted) this.#trouble = formatError(error);
    }
  }
}
