import { Problem } from '../../contracts/problem.ts';

/** What a form's field has against its value. */
export function invalidField(field: string, message: string, cause?: unknown): Problem {
  return new Problem('push.invalid', 422, message, { fields: { [field]: message }, cause });
}
