import { addonsApi } from '../../../../../services/contracts/addons/api.ts';
import { call, formatError } from '../../../api/call.ts';
import { joinSentences } from '../../../parts/text/join-sentences.ts';

/** Validates the rules of a configuration while it is edited. */
export class RuleCheck {
  #problems = $state.raw<Readonly<Record<string, string>>>({});
  #requestError = $state('');
  #checkedConfig = '';

  /** Error of the validation request; empty without an error. */
  get error(): string {
    return this.#requestError;
  }

  /** Returns the problem at a path such as `groups.1`, or an empty string. */
  getProblem(path: string): string {
    return this.#problems[path] ?? '';
  }

  /** Returns all problems of a list. */
  getListProblems(list: string): string {
    return joinSentences(
      ...Object.entries(this.#problems).flatMap(([path, text]) => (path.startsWith(`${list}.`) ? text : [])),
    );
  }

  async validate(config: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    const text = JSON.stringify(config);
    if (text === this.#checkedConfig) return;
    try {
      const { problems } = await call(addonsApi.rules, { body: { config }, signal });
      this.#problems = Object.fromEntries(problems.map((problem) => [problem.at, problem.sentence]));
      this.#requestError = '';
      this.#checkedConfig = text;
    } catch (error) {
      if (!signal.aborted) this.#requestError = formatError(error);
    }
  }
}
