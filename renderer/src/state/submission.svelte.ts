import { Problem } from '../../../services/contracts/problem.ts';
import { sentence } from '../api/call.ts';

type Faults = Readonly<Record<string, string>>;

/** A form on its way to the host: whether it is, and what was wrong with it. */
export class Submission {
  busy = $state(false);
  /** What is wrong with it as a whole, as a sentence. */
  trouble = $state('');
  /** What is wrong with its fields, by their names. */
  errors = $state.raw<Faults>({});
  #reason = '';

  forget(): void {
    this.errors = {};
    this.trouble = this.#reason = '';
  }

  /** Does the work, once at a time, and keeps why it could not be done. */
  async run(work: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.forget();
    try {
      await work();
    } catch (error) {
      this.errors = error instanceof Problem ? error.fields : {};
      this.#reason = sentence(error);
      if (Object.keys(this.errors).length === 0) this.trouble = this.#reason;
    } finally {
      this.busy = false;
    }
  }

  /** None of the fields that are shown is wrong, so the reason is said of the whole. */
  sayReason(): void {
    this.trouble = this.#reason;
  }
}

/** What is wrong with the fields of one thing in a list, by their own names: `services.mail.rules.2.tag` as `tag`. */
export function faultsAt(path: string, fields: Faults): Faults {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, fault]) =>
      name.startsWith(`${path}.`) ? [[name.slice(path.length + 1), fault] as const] : [],
    ),
  );
}

/** What is wrong with the lines of a list, by their places: `hours.0` as 0. */
export function faultsOfLines(list: string, fields: Faults): Readonly<Record<number, string>> {
  return Object.fromEntries(
    Object.entries(faultsAt(list, fields)).map(([line, fault]) => [Number.parseInt(line, 10), fault]),
  );
}
