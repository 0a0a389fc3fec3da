import { Problem } from '../../contracts/problem.ts';

/** Returns a validation error of a form field. */
export function invalidField(field: string, message: string, cause?: unknown): Problem {
  return new Problem('push.invalid', 422, message, { fields: { [field]: message }, cause });
}
