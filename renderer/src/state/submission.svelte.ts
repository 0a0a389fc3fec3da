import { Problem } from '../../../services/contracts/problem.ts';
import { formatError } from '../api/call.ts';

type FieldErrors = Readonly<Record<string, string>>;

/** State of a form: whether it is being sent, and its errors. */
export class Submission {
  busy = $state(false);
  /** Error that concerns the whole form. */
  error = $state('');
  /** Errors by name of the field. */
  errors = $state.raw<FieldErrors>({});
  #reason = '';

  clearErrors(): void {
    this.errors = {};
    this.error = '';
    this.#reason = '';
  }

  /** Runs the work unless it is already running, and stores its error. */
  async run(work: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.clearErrors();
    try {
      await work();
    } catch (error) {
      this.errors = error instanceof Problem ? error.fields : {};
      this.#reason = formatError(error);
      if (Object.keys(this.errors).length === 0) this.error = this.#reason;
    } finally {
      this.busy = false;
    }
  }

  /** Shows the error for the whole form when none of the visible fields has one. */
  showReason(): void {
    this.error = this.#reason;
  }
}

/** Returns the errors of an item of a list by the item's own field names: `services.mail.rules.2.tag` as `tag`. */
export function getErrorsAt(path: string, fields: FieldErrors): FieldErrors {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, error]) =>
      name.startsWith(`${path}.`) ? [[name.slice(path.length + 1), error] as const] : [],
    ),
  );
}

/** Returns the errors of a list by index: `hours.0` as 0. */
export function getLineErrors(list: string, fields: FieldErrors): Readonly<Record<number, string>> {
  return Object.fromEntries(
    Object.entries(getErrorsAt(list, fields)).map(([index, error]) => [Number.parseInt(index, 10), error]),
  );
}
